import { parseDuration } from '../../util/duration.js';
import type { BackendObjectReference, ParentRef, SessionPersistence } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { backendPort } from './route-filters.js';
import { problemWhen } from './rule.js';

interface AnyRoute {
  readonly spec: { readonly parentRefs?: readonly ParentRef[] };
}

/** Two references to one parent are told apart by section or port, and both must be. */
export function* distinctParents({ spec: { parentRefs = [] } }: AnyRoute): Generator<FieldProblem> {
  for (const [index, ref] of parentRefs.entries()) {
    const path = itemPath('spec.parentRefs', index);
    for (const [other, earlier] of parentRefs.slice(0, index).entries()) {
      if (!sameParent(ref, earlier)) continue;
      const asSpecific =
        (ref.sectionName === undefined) === (earlier.sectionName === undefined) &&
        (ref.port === undefined) === (earlier.port === undefined);
      yield* problemWhen(
        !asSpecific,
        path,
        `refers to the parent of parentRefs[${String(other)}]: both must give a sectionName or both a port`,
      );
      yield* problemWhen(
        asSpecific && ref.sectionName === earlier.sectionName && ref.port === earlier.port,
        path,
        `must differ from parentRefs[${String(other)}] in sectionName or port`,
      );
    }
  }
}

function sameParent(a: ParentRef, b: ParentRef): boolean {
  return a.group === b.group && a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;
}

interface NamedRules {
  readonly spec: { readonly rules?: readonly { readonly name?: string }[] };
}

/** GEP-995. */
export function* uniqueRuleNames({ spec: { rules = [] } }: NamedRules): Generator<FieldProblem> {
  const seen = new Set<string>();
  for (const [index, { name }] of rules.entries()) {
    if (name === undefined) continue;
    yield* problemWhen(
      seen.has(name),
      `${itemPath('spec.rules', index)}.name`,
      `must be unique within the route: "${name}" names an earlier rule`,
    );
    seen.add(name);
  }
}

interface MatchingRules {
  readonly spec: { readonly rules?: readonly { readonly matches?: readonly unknown[] }[] };
}

export function* boundedMatches({ spec: { rules = [] } }: MatchingRules): Generator<FieldProblem> {
  const count = rules.reduce((sum, { matches = [] }) => sum + matches.length, 0);
  yield* problemWhen(
    count > 128,
    'spec.rules',
    `must not have more than 128 matches in all, not ${String(count)}: split the route`,
  );
}

interface ForwardingRules {
  readonly spec: {
    readonly rules?: readonly { readonly backendRefs?: readonly BackendObjectReference[] }[];
  };
}

export function* backendPorts({ spec: { rules = [] } }: ForwardingRules): Generator<FieldProblem> {
  for (const [index, { backendRefs = [] }] of rules.entries())
    for (const [at, ref] of backendRefs.entries())
      yield* backendPort(ref, itemPath(`${itemPath('spec.rules', index)}.backendRefs`, at));
}

/** GEP-1619. */
export function* sessionPersistence(
  session: SessionPersistence | undefined,
  path: string,
): Generator<FieldProblem> {
  yield* problemWhen(
    session?.cookieConfig?.lifetimeType === 'Permanent' && session.absoluteTimeout === undefined,
    `${path}.absoluteTimeout`,
    'is required for cookies of lifetimeType Permanent',
  );
  yield* problemWhen(
    session?.cookieConfig !== undefined && session.type !== 'Cookie',
    `${path}.cookieConfig`,
    'must only be set for type Cookie',
  );
}

/** Both in milliseconds; undefined when a text is none, which the schema has reported. */
export function isLonger(text: string | undefined, limit: string | undefined): boolean {
  if (text === undefined || limit === undefined) return false;
  return (parseDuration(text) ?? 0) > (parseDuration(limit) ?? 0);
}
