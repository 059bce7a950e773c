import type { ParentRef } from '../src/apis/gateway/index.js';
import { GATEWAY_GROUP } from '../src/apis/kinds.js';

interface Attaching {
  readonly spec: {
    readonly parentRefs?: readonly ParentRef[];
    readonly useDefaultGateways?: string;
  };
}

const PARENT_KINDS: ReadonlySet<string> = new Set(['Gateway', 'ListenerSet']);

/** False for routes of a mesh, whose parents are Services, and for those without parents. */
export function attachesToGateway({ spec }: Attaching): boolean {
  if (spec.useDefaultGateways === 'All') return true;
  return (spec.parentRefs ?? []).some(({ group, kind }) => group === GATEWAY_GROUP && PARENT_KINDS.has(kind));
}
