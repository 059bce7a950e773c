import type { Condition } from '../apis/meta.js';
import { gatewayConditions } from './conditions/gateway.js';
import { listenerSetConditions } from './conditions/listener-set.js';
import type { GatewayNode } from './gateway.js';
import { conflictsWithin, PortClaims, type Verdict } from './listener-conflicts.js';
import type { ListenerNode } from './listener.js';
import type { ListenerSetNode } from './listener-set.js';
import { compareAge } from './precedence.js';

/** What the comparison of all listeners gives. */
export interface ListenerSettlement {
  readonly gateways: readonly GatewayNode[];
  readonly listenerSets: readonly ListenerSetNode[];
  /** By listener key: those that lost. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** By ListenerSet: only those whose listeners count. */
  readonly joined: ReadonlySet<string>;
}

/** Gateways go first, then ListenerSets, each the older first; only Gateways of mode `shared` meet on an address. */
export function settleListeners(
  gateways: readonly GatewayNode[],
  listenerSets: readonly ListenerSetNode[],
): ListenerSettlement {
  const verdicts = new Map<string, Verdict>();
  const nodes = new Map(gateways.map((node) => [node.id, node]));
  const claims = new Map<string, PortClaims>();
  const claimsOf = (node: GatewayNode): PortClaims => {
    const key = node.parameters.addressing === 'shared' ? '' : node.id;
    const known = claims.get(key) ?? new PortClaims();
    claims.set(key, known);
    return known;
  };
  for (const node of [...gateways].sort(compareAge)) {
    if (!node.refused) admitAll(node.listeners, claimsOf(node), verdicts);
  }
  const joined = new Set<string>();
  for (const set of [...listenerSets].sort(compareAge)) {
    const parent = nodes.get(set.gateway);
    if (!parent || !set.allowed || !isAccepted(acceptGateway(parent, verdicts))) continue;
    joined.add(set.id);
    admitAll(set.listeners, claimsOf(parent), verdicts);
  }
  return { gateways, listenerSets, verdicts, joined };
}

/** Who loses against an older one is out; of the others those that are not distinct lose, all of them. */
function admitAll(
  listeners: readonly ListenerNode[],
  claims: PortClaims,
  verdicts: Map<string, Verdict>,
): void {
  const left = listeners.filter((listener) => {
    const verdict = claims.refuse(listener);
    if (verdict) verdicts.set(listener.key, verdict);
    return !verdict;
  });
  const within = conflictsWithin(left);
  for (const listener of left) {
    const verdict = within.get(listener.key);
    if (verdict) verdicts.set(listener.key, verdict);
    else claims.admit(listener);
  }
}

type Verdicts = ReadonlyMap<string, Verdict>;

function isAccepted(condition: Condition): boolean {
  return condition.status === 'True';
}

/** Names of the listeners that are not valid, and whether any is. */
function validity(listeners: readonly ListenerNode[], verdicts: Verdicts) {
  const invalid = listeners.filter((one) => one.notAccepted !== undefined || verdicts.has(one.key));
  return { invalid: invalid.map(({ name }) => name), someValid: invalid.length < listeners.length };
}

export function acceptGateway(node: GatewayNode, verdicts: Verdicts): Condition {
  if (node.refused) return node.refused;
  const { invalid, someValid } = validity(node.listeners, verdicts);
  if (!someValid) return gatewayConditions.noListenerValid();
  return invalid.length > 0 ? gatewayConditions.someListenersInvalid(invalid) : gatewayConditions.accepted();
}

interface ListenerSetOutcome {
  readonly accepted: Condition;
  readonly programmed: Condition;
}

export function acceptListenerSet(
  node: ListenerSetNode,
  parent: { readonly joined: boolean; readonly programmed: boolean },
  verdicts: Verdicts,
): ListenerSetOutcome {
  if (!node.allowed) {
    return {
      accepted: listenerSetConditions.notAllowed(node.gateway),
      programmed: listenerSetConditions.notProgrammedAsNotAllowed(),
    };
  }
  if (!parent.joined) {
    return {
      accepted: listenerSetConditions.parentNotAccepted(node.gateway),
      programmed: listenerSetConditions.notProgrammedAsParent(node.gateway),
    };
  }
  const { invalid, someValid } = validity(node.listeners, verdicts);
  if (!someValid || !node.listeners.some((one) => one.servable && !verdicts.has(one.key))) {
    return {
      accepted: listenerSetConditions.noListenerValid(),
      programmed: listenerSetConditions.notProgrammedAsListeners(),
    };
  }
  return {
    accepted:
      invalid.length > 0
        ? listenerSetConditions.someListenersInvalid(invalid)
        : listenerSetConditions.accepted(),
    programmed: parent.programmed
      ? listenerSetConditions.programmed()
      : listenerSetConditions.notProgrammedAsParent(node.gateway),
  };
}
