import type { CachePolicyTargetRef, TricksterCachePolicy } from '../apis/policy/trickster-cache-policy.js';
import { targetFault, TARGET_GROUPS } from '../apis/rules/trickster-cache-policy.js';
import type { Condition } from '../apis/meta.js';
import { parseCacheSettings, type CacheSettings } from './cache-settings.js';
import type { ConfiguredNames } from './class-parameters.js';
import { cachePolicyConditions } from './conditions/cache-policy.js';
import { objectRefOf } from './object-ref.js';
import { createdAtOf, type Aged } from './precedence.js';
import type { ObjectRef, ParentReference } from './status-plan.js';

/** A TricksterCachePolicy on its own. */
export interface CachePolicyNode extends Aged {
  readonly ref: ObjectRef;
  readonly generation: number;
  readonly targets: readonly CachePolicyTarget[];
  readonly settings: CacheSettings;
  /** Why it governs nothing, whatever its targets are. */
  readonly refused?: Condition;
  readonly resolvedRefs: Condition;
}

export interface CachePolicyTarget {
  /** As the status repeats it. */
  readonly ancestor: ParentReference;
  /** `kind/namespace/name`, and `/` and the section when one is given: what policies compete for. */
  readonly key: string;
  readonly kind: string;
  /** `namespace/name`. */
  readonly id: string;
  readonly sectionName?: string;
  /** Why it can be no target. */
  readonly fault?: string;
}

export function examineCachePolicy(policy: TricksterCachePolicy, names: ConfiguredNames): CachePolicyNode {
  const { metadata, spec } = policy;
  const targets = targetsOf(policy);
  const parsed = parseCacheSettings(spec);
  const settings = 'settings' in parsed ? parsed.settings : {};
  const unknown = findUnknownName(settings, names);
  const refused = refuse(targets, 'problem' in parsed ? parsed.problem : unknown);
  return {
    id: `${metadata.namespace}/${metadata.name}`,
    createdAt: createdAtOf(policy),
    ref: objectRefOf('TricksterCachePolicy', policy),
    generation: metadata.generation ?? 0,
    targets,
    settings,
    ...(refused && { refused }),
    resolvedRefs:
      unknown === undefined
        ? cachePolicyConditions.resolvedRefs()
        : cachePolicyConditions.cacheNotFound(unknown),
  };
}

function refuse(targets: readonly CachePolicyTarget[], problem: string | undefined): Condition | undefined {
  const fault = problem ?? targets.find((target) => target.fault !== undefined)?.fault;
  return fault === undefined ? undefined : cachePolicyConditions.invalid(fault);
}

function targetsOf({ metadata, spec }: TricksterCachePolicy): readonly CachePolicyTarget[] {
  const seen = new Set<string>();
  return spec.targetRefs.map((ref, index) => {
    const { kind, name, sectionName, group = TARGET_GROUPS.get(kind) ?? '' } = ref;
    const id = `${metadata.namespace}/${name}`;
    const key = sectionName === undefined ? `${kind}/${id}` : `${kind}/${id}/${sectionName}`;
    const fault = faultOf(ref, index, seen.has(key));
    seen.add(key);
    return {
      ancestor: {
        group,
        kind,
        namespace: metadata.namespace,
        name,
        ...(sectionName !== undefined && { sectionName }),
      },
      key,
      kind,
      id,
      ...(sectionName !== undefined && { sectionName }),
      ...(fault !== undefined && { fault }),
    };
  });
}

function faultOf(ref: CachePolicyTargetRef, index: number, isRepeated: boolean): string | undefined {
  const field = `spec.targetRefs[${index}]`;
  for (const { path, message } of targetFault(ref, field)) return `${path} ${message}`;
  if (ref.kind === 'Ingress') return `${field}.kind: Ingress is not supported`;
  return isRepeated ? `${field} names a target twice` : undefined;
}

/** `undefined` when every name is in the configuration file. */
function findUnknownName(
  { cacheName, negativeCacheName }: CacheSettings,
  { caches, negativeCaches }: ConfiguredNames,
): string | undefined {
  if (cacheName !== undefined && !caches.has(cacheName))
    return `spec.cacheName: "${cacheName}" is not in caches of the configuration file`;
  if (negativeCacheName !== undefined && !negativeCaches.has(negativeCacheName))
    return `spec.negativeCacheName: "${negativeCacheName}" is not in negative_caches of the configuration file`;
  return undefined;
}
