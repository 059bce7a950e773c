import { constants, createHash } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/** One certificate chain with its key, both PEM; the leaf comes first. */
export interface KeyPair {
  readonly chain: string;
  readonly privateKey: string;
}

export interface ServerContextOptions {
  /** At least one; OpenSSL chooses by key type what the client can verify, the first of a type wins. */
  readonly keyPairs: readonly KeyPair[];
  /**
   * PEM bundle of the CAs that client certificates are verified with, when clients must have one. Where every
   * certificate is accepted it must be absent: after a signature that does not verify OpenSSL's queue holds an error
   * that Node takes for one of the connection.
   */
  readonly clientCa?: string;
  /**
   * 48 bytes that all workers share, so that a ticket of one is good at another. They are rotated by asking for a
   * context with new ones: tickets of the old ones then cost a full handshake.
   */
  readonly ticketKeys: Buffer;
}

export interface ClientContextOptions {
  /** PEM bundle; absent means the roots that come with Node. */
  readonly ca?: string;
  /** The certificate to present when the server asks. */
  readonly keyPair?: KeyPair;
}

/** Length of {@link ServerContextOptions.ticketKeys}. */
export const TICKET_KEY_BYTES = 48;

/** TLS 1.2 and later: RFC 8996 has retired the rest. */
const COMMON: SecureContextOptions = { minVersion: 'TLSv1.2' };

/**
 * Makes contexts and remembers those in use: parsing certificates and keys takes a millisecond or more, and a
 * configuration names the same ones again and again. Rotation is a change of the options.
 */
export class SecureContexts {
  readonly #byDigest = new Map<string, WeakRef<SecureContext>>();
  readonly #cleanup = new FinalizationRegistry<string>((digest) => {
    if (this.#byDigest.get(digest)?.deref() === undefined) this.#byDigest.delete(digest);
  });

  /** Throws what OpenSSL says when a PEM is bad or a key does not belong to its certificate. */
  server(options: ServerContextOptions): SecureContext {
    return this.#remember(serverDigest(options), () => createServerContext(options));
  }

  /** Throws what OpenSSL says. */
  client(options: ClientContextOptions): SecureContext {
    const digest = digestOf('client', options.ca, options.keyPair?.chain, options.keyPair?.privateKey);
    return this.#remember(digest, () => createClientContext(options));
  }

  #remember(digest: string, create: () => SecureContext): SecureContext {
    const known = this.#byDigest.get(digest)?.deref();
    if (known !== undefined) return known;

    const context = create();
    this.#byDigest.set(digest, new WeakRef(context));
    this.#cleanup.register(context, digest);
    return context;
  }
}

/** Throws what OpenSSL says when a PEM is bad or a key does not belong to its certificate. */
export function createServerContext(options: ServerContextOptions): SecureContext {
  const { keyPairs, clientCa, ticketKeys } = options;
  return createSecureContext({
    ...COMMON,
    cert: keyPairs.map(({ chain }) => chain),
    key: keyPairs.map(({ privateKey }) => privateKey),
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    ticketKeys,
    sessionIdContext: sessionIdContext(options),
    honorCipherOrder: true,
    // A client must not make a server work for nothing by renegotiating (CVE-2011-1473).
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

/** Throws what OpenSSL says. */
export function createClientContext({ ca, keyPair }: ClientContextOptions): SecureContext {
  return createSecureContext({
    ...COMMON,
    ...(ca === undefined ? {} : { ca }),
    ...(keyPair === undefined ? {} : { cert: keyPair.chain, key: keyPair.privateKey }),
  });
}

/**
 * All contexts share their ticket keys. A session must not be resumed where other certificates are shown or other
 * client CAs are trusted (RFC 8446 section 4.6.1), so that goes into its context; 32 bytes are OpenSSL's limit.
 */
function sessionIdContext({ keyPairs, clientCa }: ServerContextOptions): string {
  return digestOf('session', clientCa, ...keyPairs.map(({ chain }) => chain)).slice(0, 32);
}

function serverDigest({ keyPairs, clientCa, ticketKeys }: ServerContextOptions): string {
  const pairs = keyPairs.flatMap(({ chain, privateKey }) => [chain, privateKey]);
  return digestOf('server', clientCa, ticketKeys.toString('base64'), ...pairs);
}

/** Each part goes in with its length, so that no two lists of parts are one text. */
function digestOf(...parts: readonly (string | undefined)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part === undefined ? '-;' : `${part.length};`).update(part ?? '');
  return hash.digest('hex');
}
