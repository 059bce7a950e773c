import type { Condition } from '../apis/meta.js';
import type { AddressOutcome } from './addresses.js';
import type { ClassNode } from './gateway-class.js';
import type { GatewayNode } from './gateway.js';
import type { Verdict } from './listener-conflicts.js';
import type { ListenerNode } from './listener.js';
import type { ListenerSetNode } from './listener-set.js';
import type { Policies } from './policies.js';
import type { SettledRoute } from './route.js';

/** The cluster as it is meant: linked, validated, every conflict settled. Translation and statuses are made from it. */
export interface Graph {
  /** Sorted by name, as everything here is by `namespace/name`. */
  readonly classes: readonly ClassNode[];
  readonly gateways: readonly SettledGateway[];
  readonly listenerSets: readonly SettledListenerSet[];
  /** Those with at least one parent that is ours. */
  readonly routes: readonly SettledRoute[];
  /** Number of accepted routes by listener key. */
  readonly attachedRoutes: ReadonlyMap<string, number>;
  /** Number of accepted ListenerSets by Gateway. */
  readonly attachedListenerSets: ReadonlyMap<string, number>;
  readonly policies: Policies;
}

export interface SettledGateway {
  readonly node: GatewayNode;
  readonly address: AddressOutcome;
  readonly accepted: Condition;
  readonly listeners: readonly SettledListener[];
}

export interface SettledListenerSet {
  readonly node: ListenerSetNode;
  readonly accepted: Condition;
  readonly programmed: Condition;
  readonly listeners: readonly SettledListener[];
}

export interface SettledListener {
  readonly node: ListenerNode;
  /** Another listener is in its way. */
  readonly verdict?: Verdict;
  /** Whether the engine gets it. */
  readonly served: boolean;
}
