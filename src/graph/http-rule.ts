import type { HttpRouteFilter } from '../apis/gateway/http-filter.js';
import type { SessionPersistence } from '../apis/gateway/session-persistence.js';
import type { Condition } from '../apis/meta.js';
import type { ResolvedBackend } from './backend-ref.js';
import type { RetryBudget } from './backend-traffic-policy.js';

/** A rule of an HTTPRoute or GRPCRoute with its references followed. */
export interface RuleNode<Match, Options> {
  readonly index: number;
  readonly name?: string;
  readonly matches: readonly Match[];
  readonly filters: readonly FilterNode[];
  readonly backends: readonly BackendNode[];
  /** What only one of the kinds has: timeouts and retries. */
  readonly options: Options;
  readonly sessionPersistence?: SessionPersistence;
  readonly retryBudget?: RetryBudget;
  /** Why its matches must answer 500. */
  readonly fault?: RuleFault;
}

/** Filters of GRPCRoutes have the shape of those of HTTPRoutes. */
export interface FilterNode {
  readonly filter: HttpRouteFilter;
  /** Of RequestMirror and ExternalAuth. */
  readonly backend?: ResolvedBackend;
}

export interface BackendNode {
  readonly weight: number;
  readonly backend: ResolvedBackend;
  readonly filters: readonly FilterNode[];
}

export interface RuleFault {
  readonly reason: 'UnsupportedValue' | 'IncompatibleFilters';
  /** Names the field. */
  readonly cause: string;
}

/** What the rules of a route say about it as a whole, whatever its parents. */
export interface RulesVerdict {
  /** Why ResolvedRefs is False. */
  readonly unresolved?: Condition;
  readonly faults: readonly (RuleFault & { readonly index: number })[];
  /** Every rule is faulty. */
  readonly nothingLeft: boolean;
}
