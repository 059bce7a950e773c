import type { Secret } from '../apis/core/secret.js';
import type { SecretObjectReference } from '../apis/gateway/references.js';
import { SecretBytes } from '../util/secret-bytes.js';
import type { Scope } from './context.js';
import type { Libraries } from './libraries.js';
import { isPermitted, type Referrer } from './reference-grant.js';

/** What a Secret gives as a certificate. A pair beside a problem is the last good one, which serves on. */
export interface CertificateNode {
  /** `Secret/namespace/name`. */
  readonly key: string;
  readonly pair?: {
    readonly chain: string;
    readonly privateKey: SecretBytes;
    readonly names: readonly string[];
  };
  readonly problem?: string;
  /** It is served, but someone should look at it. */
  readonly warning?: string;
}

interface ReferenceProblem {
  readonly reason: 'RefNotPermitted' | 'Invalid';
  readonly message: string;
}

interface ResolvedCertificates {
  readonly certificates: readonly CertificateNode[];
  /** The first thing that is wrong; the certificates of the other references are still there. */
  readonly problem?: ReferenceProblem;
}

/** Follows references to Secrets: permission first, then kind, then existence, so that nothing is told about objects of others. */
export function resolveCertificates(
  refs: readonly SecretObjectReference[],
  from: Referrer & { readonly field: string },
  scope: Scope,
): ResolvedCertificates {
  const certificates: CertificateNode[] = [];
  let problem: ReferenceProblem | undefined;
  for (const ref of refs) {
    const found = resolveCertificate(ref, from, scope);
    if ('reason' in found) {
      problem ??= found;
      continue;
    }
    if (found.problem !== undefined)
      problem ??= { reason: 'Invalid', message: `${from.field}: ${found.problem}` };
    if (found.pair) certificates.push(found);
  }
  return problem ? { certificates, problem } : { certificates };
}

function resolveCertificate(
  ref: SecretObjectReference,
  from: Referrer & { readonly field: string },
  scope: Scope,
): CertificateNode | ReferenceProblem {
  const namespace = ref.namespace ?? from.namespace;
  const key = `${namespace}/${ref.name}`;
  const grants = scope.lookup.find('grants', namespace) ?? [];
  if (!isPermitted(from, { group: ref.group, kind: ref.kind, namespace, name: ref.name }, grants)) {
    return {
      reason: 'RefNotPermitted',
      message: `${from.field}: no ReferenceGrant in namespace ${namespace} permits ${ref.kind} ${key}`,
    };
  }
  if (ref.group !== '' || ref.kind !== 'Secret') {
    return {
      reason: 'Invalid',
      message: `${from.field}: ${ref.kind} of group "${ref.group}" holds no certificate, only a core Secret does`,
    };
  }
  return scope.certificateOf(key, scope.lookup.find('secrets', key));
}

/** Reads the pair out of a Secret of type kubernetes.io/tls and has it checked. */
export function examineSecret(
  key: string,
  secret: Secret | undefined,
  libraries: Libraries,
): CertificateNode {
  const id = `Secret/${key}`;
  const chain = decode(secret?.data?.['tls.crt']);
  const privateKey = decode(secret?.data?.['tls.key']);
  if (secret === undefined) return broken(id, key, `Secret ${key} does not exist`, libraries);
  if (chain === undefined) return broken(id, key, `Secret ${key} has no tls.crt`, libraries);
  if (privateKey === undefined) return broken(id, key, `Secret ${key} has no tls.key`, libraries);

  const check = libraries.checkCertificate(chain, privateKey);
  if (!check.ok) return broken(id, key, `Secret ${key}: ${check.problem}`, libraries);
  const pair = { chain, privateKey: new SecretBytes(privateKey), names: check.names };
  return check.warning === undefined
    ? { key: id, pair }
    : { key: id, pair, warning: `Secret ${key}: ${check.warning}` };
}

function broken(id: string, key: string, problem: string, libraries: Libraries): CertificateNode {
  const last = libraries.lastGoodCertificate?.(key);
  const check = last && libraries.checkCertificate(last.chain, last.privateKey);
  if (!last || !check?.ok) return { key: id, problem };
  const pair = { chain: last.chain, privateKey: new SecretBytes(last.privateKey), names: check.names };
  return { key: id, pair, problem };
}

function decode(base64: string | undefined): string | undefined {
  if (base64 === undefined || base64 === '') return undefined;
  try {
    return atob(base64);
  } catch {
    // Not base64: the API server would have refused it, a file may hold anything.
    return undefined;
  }
}
