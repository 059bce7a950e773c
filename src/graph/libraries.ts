/**
 * What graph and translation need from libraries, handed in as pure functions so that the two layers stay pure.
 * Each must give the same answer for the same argument; memoise what is dear.
 */
export interface Libraries {
  /** Whether a PEM chain (leaf first) and a PEM key are a pair that TLS can serve. */
  checkCertificate(chain: string, privateKey: string): CertificateCheck;
  /** Whether the text holds at least one usable CA certificate. */
  checkCaBundle(pem: string): CaBundleCheck;
  /** Undefined when RE2 (linear time) takes the pattern, else what is wrong with it. */
  regexProblem(pattern: string): string | undefined;
  /** A CIDR, a range `first-last` or one address; undefined when the text is none of them. */
  parseAddressRange(text: string): AddressRange | undefined;
  /** The one spelling of an IP address that is compared; undefined when it is none. */
  canonicalAddress(text: string): string | undefined;
  /**
   * The last pair of this Secret (`namespace/name`) that was usable: what serves on while its successor is broken
   * or gone. Absent: nothing is kept.
   */
  lastGoodCertificate?(secret: string): CertificatePair | undefined;
}

export interface CertificatePair {
  readonly chain: string;
  readonly privateKey: string;
}

export type CertificateCheck =
  | {
      readonly ok: true;
      /** DNS names of the leaf, lower case. */
      readonly names: readonly string[];
      /** Does not keep it from being served, for example that it has expired. */
      readonly warning?: string;
    }
  | { readonly ok: false; readonly problem: string };

export type CaBundleCheck =
  | {
      readonly ok: true;
      /** The usable certificates of the bundle. */
      readonly pem: string;
    }
  | { readonly ok: false; readonly problem: string };

export interface AddressRange {
  contains(address: string): boolean;
  /** Canonical addresses in order; lazy, because a range may be huge. */
  addresses(): Iterable<string>;
}
