import type { ReferenceGrant } from '../apis/gateway/reference-grant.js';

/** Who points. */
export interface Referrer {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}

/** What is pointed to. */
interface Referent {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Whether a reference is allowed: within a namespace always, across namespaces when a ReferenceGrant of the target
 * namespace trusts the referrer. `grants` are those of the target namespace.
 */
export function isPermitted(from: Referrer, to: Referent, grants: readonly ReferenceGrant[]): boolean {
  if (from.namespace === to.namespace) return true;
  return grants.some(
    ({ metadata, spec }) =>
      metadata.namespace === to.namespace &&
      spec.from.some((granted) => trusts(granted, from)) &&
      spec.to.some((granted) => covers(granted, to)),
  );
}

function trusts(granted: ReferenceGrant['spec']['from'][number], from: Referrer): boolean {
  return granted.group === from.group && granted.kind === from.kind && granted.namespace === from.namespace;
}

function covers(granted: ReferenceGrant['spec']['to'][number], to: Referent): boolean {
  return (
    granted.group === to.group &&
    granted.kind === to.kind &&
    (granted.name === undefined || granted.name === '' || granted.name === to.name)
  );
}
