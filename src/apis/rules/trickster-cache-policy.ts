import { parseDuration } from '../../util/duration.js';
import { GATEWAY_GROUP } from '../kinds.js';
import type { CachePolicyTargetRef, TricksterCachePolicy } from '../policy/trickster-cache-policy.js';
import { fieldPath, itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

/** The kinds that a policy may govern, with the group of each. */
export const TARGET_GROUPS: ReadonlyMap<string, string> = new Map([
  ['Gateway', GATEWAY_GROUP],
  ['HTTPRoute', GATEWAY_GROUP],
  ['Service', ''],
  ['Ingress', 'networking.k8s.io'],
]);

const SECTIONED = ['HTTPRoute', 'Service'];
const FIELD_NAME = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;

export function* usableTargets({ spec: { targetRefs } }: TricksterCachePolicy): Generator<FieldProblem> {
  const seen = new Map<string, number>();
  for (const [index, ref] of targetRefs.entries()) {
    const path = itemPath('spec.targetRefs', index);
    yield* targetFault(ref, path);
    const identity = `${ref.kind} ${ref.name} ${ref.sectionName ?? ''}`;
    const earlier = seen.get(identity);
    yield* problemWhen(earlier !== undefined, path, `must differ from targetRefs[${String(earlier)}]`);
    seen.set(identity, earlier ?? index);
  }
}

/** What makes a reference one that no object can satisfy. */
export function* targetFault(ref: CachePolicyTargetRef, path: string): Generator<FieldProblem> {
  const ownGroup = TARGET_GROUPS.get(ref.kind);
  if (ownGroup === undefined) {
    yield {
      path: `${path}.kind`,
      message: `must be one of ${[...TARGET_GROUPS.keys()].join(', ')}, not "${ref.kind}"`,
    };
    return;
  }
  yield* problemWhen(
    ref.group !== undefined && ref.group !== ownGroup,
    `${path}.group`,
    `must be ${JSON.stringify(ownGroup)} for kind ${ref.kind}, or be left out`,
  );
  yield* problemWhen(
    ref.sectionName !== undefined && !SECTIONED.includes(ref.kind),
    `${path}.sectionName`,
    `must not be set for kind ${ref.kind}`,
  );
}

/** A header has one operation in a map, however it is spelled. */
export function* headerOperations({ spec }: TricksterCachePolicy): Generator<FieldProblem> {
  const maps = [
    ['spec.requestHeaders', spec.requestHeaders],
    ['spec.responseHeaders', spec.responseHeaders],
    ['spec.cors.headers', spec.cors?.headers],
  ] as const;
  for (const [path, map = {}] of maps) {
    const seen = new Map<string, string>();
    for (const key of Object.keys(map)) {
      const name = key.replace(/^[+-]/, '').toLowerCase();
      const earlier = seen.get(name);
      yield* problemWhen(
        !FIELD_NAME.test(name),
        fieldPath(path, key),
        'must have a key that is a header name, with "+" before it to append or "-" to remove',
      );
      yield* problemWhen(
        earlier !== undefined,
        fieldPath(path, key),
        `must not name the header of "${String(earlier)}" again`,
      );
      seen.set(name, key);
    }
  }
}

export function* sessionTimes({ spec }: TricksterCachePolicy): Generator<FieldProblem> {
  for (const field of ['stickyTTL', 'stickyIdle'] as const) {
    const text = spec[field];
    yield* problemWhen(
      text !== undefined && (parseDuration(text) ?? 0) < 1_000,
      `spec.${field}`,
      'must be at least 1s',
    );
  }
}
