import type { HttpRouteFilter } from '../apis/gateway/http-filter.js';
import type { BackendRef } from '../apis/gateway/references.js';
import type { Condition } from '../apis/meta.js';
import { parseDuration } from '../util/duration.js';
import { resolveBackend, type ResolvedBackend } from './backend-ref.js';
import { cutMessage } from './conditions/condition.js';
import type { Scope } from './context.js';
import { findFilterFault } from './filter-faults.js';
import type { BackendNode, FilterNode, RuleFault, RulesVerdict } from './http-rule.js';
import type { RouteKind } from './listener.js';

/** Who a rule belongs to and where it stands. */
interface RuleOwner {
  readonly kind: RouteKind;
  readonly namespace: string;
  /** `spec.rules[2]`. */
  readonly field: string;
}

type FilteredBackendRef = BackendRef & { readonly filters?: readonly HttpRouteFilter[] | undefined };

/** One for all rules and backends without filters: most are. */
const NO_FILTERS: readonly FilterNode[] = [];

export function resolveFilters(
  filters: readonly HttpRouteFilter[],
  owner: RuleOwner,
  scope: Scope,
): readonly FilterNode[] {
  if (filters.length === 0) return NO_FILTERS;
  return filters.map((filter, index) => {
    const ref = filter.requestMirror?.backendRef ?? filter.externalAuth?.backendRef;
    if (!ref) return { filter };
    const from = { ...owner, field: `${owner.field}.filters[${index}].backendRef` };
    return { filter, backend: resolveBackend(ref, from, scope) };
  });
}

export function resolveBackends(
  refs: readonly FilteredBackendRef[],
  owner: RuleOwner,
  scope: Scope,
): readonly BackendNode[] {
  return refs.map((ref, index) => {
    const from = { ...owner, field: `${owner.field}.backendRefs[${index}]` };
    return {
      weight: ref.weight,
      backend: resolveBackend(ref, from, scope),
      filters: resolveFilters(ref.filters ?? [], from, scope),
    };
  });
}

/** Faults of the filters of a rule and of its backendRefs. */
export function findFiltersFault(
  filters: readonly HttpRouteFilter[],
  backendRefs: readonly FilteredBackendRef[],
  prefixOnly: boolean,
): RuleFault | undefined {
  const own = findFilterFault(filters, { field: 'filters', prefixOnly });
  if (own) return own;
  if (backendRefs.length > 0 && filters.some(({ type }) => type === 'RequestRedirect')) {
    return { reason: 'UnsupportedValue', cause: 'filters: RequestRedirect excludes backendRefs' };
  }
  for (const [index, ref] of backendRefs.entries()) {
    const fault = findFilterFault(ref.filters ?? [], {
      field: `backendRefs[${index}].filters`,
      prefixOnly,
    });
    if (fault) return fault;
  }
  return undefined;
}

export function findTimeoutsFault(timeouts: {
  readonly request?: string;
  readonly backendRequest?: string;
}): RuleFault | undefined {
  const request = toMs(timeouts.request);
  const backendRequest = toMs(timeouts.backendRequest);
  // 0s is no limit, so it is longer than everything.
  return request > 0 && backendRequest > request
    ? unsupported('timeouts: backendRequest is longer than request')
    : undefined;
}

function toMs(duration: string | undefined): number {
  return duration === undefined ? 0 : (parseDuration(duration) ?? 0);
}

function unsupported(cause: string): RuleFault {
  return { reason: 'UnsupportedValue', cause };
}

interface JudgedRule {
  readonly index: number;
  readonly filters: readonly FilterNode[];
  readonly backends: readonly BackendNode[];
  readonly fault?: RuleFault;
}

/** Puts what is wrong with single rules together. */
export function judgeRules(rules: readonly JudgedRule[]): RulesVerdict {
  const faults = rules.flatMap(({ index, fault }) => (fault ? [{ index, ...fault }] : []));
  const unresolved = combineProblems(rules.flatMap(referencesOf));
  return {
    ...(unresolved && { unresolved }),
    faults,
    nothingLeft: faults.length > 0 && faults.length === rules.length,
  };
}

function referencesOf({ filters, backends }: JudgedRule): readonly ResolvedBackend[] {
  return [
    ...backends.flatMap((one) => [one.backend, ...one.filters.flatMap(({ backend }) => backend ?? [])]),
    ...filters.flatMap(({ backend }) => backend ?? []),
  ];
}

/** One condition for all references: the reason of the first problem, and what is wrong with each. */
function combineProblems(references: readonly ResolvedBackend[]): Condition | undefined {
  const problems = references.flatMap((one) => ('problem' in one ? [one.problem] : []));
  const [first] = problems;
  if (!first) return undefined;
  return { ...first, message: cutMessage([...new Set(problems.map(({ message }) => message))].join('; ')) };
}
