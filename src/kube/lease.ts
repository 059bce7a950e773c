import { isJsonObject, numberAt, textAt, valueAt, type JsonObject } from './json.js';

/** The parts of a coordination.k8s.io/v1 Lease that an election reads. */
export interface Lease {
  /** As read: written back with its resourceVersion, so that of two candidates one gets a conflict. */
  readonly metadata: JsonObject;
  /** `''`: nobody. */
  readonly holder: string;
  readonly durationMs: number;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  readonly transitions: number;
}

export function parseLease(raw: unknown): Lease {
  const metadata = valueAt(raw, 'metadata');
  return {
    metadata: isJsonObject(metadata) ? metadata : {},
    holder: textAt(raw, 'spec', 'holderIdentity') ?? '',
    durationMs: (numberAt(raw, 'spec', 'leaseDurationSeconds') ?? 0) * 1000,
    acquireTime: textAt(raw, 'spec', 'acquireTime'),
    renewTime: textAt(raw, 'spec', 'renewTime'),
    transitions: numberAt(raw, 'spec', 'leaseTransitions') ?? 0,
  };
}

export interface LeaseClaim {
  /** Undefined releases the Lease. */
  readonly holder: string | undefined;
  readonly durationMs: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

export function leaseBody(metadata: JsonObject, claim: LeaseClaim): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: {
      ...(claim.holder === undefined ? {} : { holderIdentity: claim.holder }),
      // The API stores whole seconds.
      leaseDurationSeconds: Math.max(1, Math.round(claim.durationMs / 1000)),
      acquireTime: claim.acquireTime,
      renewTime: claim.renewTime,
      leaseTransitions: claim.transitions,
    },
  };
}

/** Kubernetes' MicroTime. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
