import type { Condition } from '../apis/meta.js';
import type { AttachedListener, ParentNode } from './attachment.js';
import { cutMessage } from './conditions/condition.js';
import { routeConditions } from './conditions/route.js';
import type { GrpcRulesNode } from './grpc-route.js';
import { printHostname } from './hostname.js';
import type { HttpRulesNode } from './http-route.js';
import type { RulesVerdict } from './http-rule.js';
import type { Aged } from './precedence.js';
import type { ObjectRef, ParentReference } from './status-plan.js';
import type { StreamRulesNode } from './stream-route.js';

/** A route of one of our Gateways, before it is compared with other routes. */
export type RouteNode = RouteBase &
  (
    | { readonly kind: 'HTTPRoute'; readonly rules: HttpRulesNode }
    | { readonly kind: 'GRPCRoute'; readonly rules: GrpcRulesNode }
    | { readonly kind: 'TLSRoute' | 'TCPRoute' | 'UDPRoute'; readonly rules: StreamRulesNode }
  );

/** What routes of all kinds have. */
export interface RouteBase extends Aged {
  /** `HTTPRoute/namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly ref: ObjectRef;
  readonly generation: number;
  readonly parents: readonly ParentNode[];
}

/** A hostname that a route does not get on a listener. */
export interface HostRefusal {
  /** Key of the listener. */
  readonly listener: string;
  readonly hostname: string;
  readonly reason: 'HostnameConflict' | 'NotAllowedByListeners';
  readonly message: string;
}

/** A route with all that was decided about it. */
export interface SettledRoute {
  readonly route: RouteNode;
  readonly parents: readonly SettledParent[];
  readonly refusals: readonly HostRefusal[];
}

interface SettledParent {
  readonly ref: ParentReference;
  readonly accepted: boolean;
  readonly conditions: readonly Condition[];
  /** Where its rules are served: also when they are all bad and answer 500. */
  readonly attached: readonly AttachedListener[];
}

export function settleRoute(route: RouteNode, refusals: readonly HostRefusal[]): SettledRoute {
  return {
    route,
    parents: route.parents.map((parent) => settleParent(parent, route.rules, refusals)),
    refusals,
  };
}

function settleParent(
  parent: ParentNode,
  rules: RulesVerdict,
  refusals: readonly HostRefusal[],
): SettledParent {
  const attached = withoutRefused(parent.attached, refusals);
  const refused = parent.refused ?? (attached.length === 0 ? lostAll(parent, refusals) : undefined);
  const accepted = refused ?? judge(rules);
  const conditions = [accepted, rules.unresolved ?? routeConditions.resolvedRefs()];
  if (!refused && rules.faults.length > 0 && !rules.nothingLeft) conditions.push(partiallyInvalid(rules));
  return { ref: parent.ref, accepted: accepted.status === 'True', conditions, attached };
}

function withoutRefused(
  attached: readonly AttachedListener[],
  refusals: readonly HostRefusal[],
): readonly AttachedListener[] {
  if (refusals.length === 0) return attached;
  return attached.flatMap(({ listener, hostnames }) => {
    const kept = hostnames.filter(
      (hostname) => !refusals.some((one) => one.listener === listener.key && one.hostname === hostname),
    );
    return kept.length > 0 ? [{ listener, hostnames: kept }] : [];
  });
}

/** Seed rule: NotAllowedByListeners when every host is under another namespace's wildcard, else HostnameConflict. */
function lostAll({ attached }: ParentNode, refusals: readonly HostRefusal[]): Condition {
  const relevant = refusals.filter((one) => attached.some(({ listener }) => listener.key === one.listener));
  const message = cutMessage(describeRefusals(relevant));
  return relevant.every(({ reason }) => reason === 'NotAllowedByListeners')
    ? routeConditions.notAllowedByListeners(message)
    : routeConditions.hostnameConflict(message);
}

/** Each hostname once, with who has it. */
export function describeRefusals(refusals: readonly HostRefusal[]): string {
  return [
    ...new Set(refusals.map(({ hostname, message }) => `Hostname ${printHostname(hostname)} ${message}`)),
  ]
    .sort()
    .join('; ');
}

function judge(rules: RulesVerdict): Condition {
  if (!rules.nothingLeft) return routeConditions.accepted();
  const message = describeFaults(rules);
  return rules.faults.every(({ reason }) => reason === 'IncompatibleFilters')
    ? routeConditions.incompatibleFilters(message)
    : routeConditions.unsupportedValue(message);
}

function partiallyInvalid(rules: RulesVerdict): Condition {
  const [first] = rules.faults;
  return routeConditions.partiallyInvalid(first?.reason ?? 'UnsupportedValue', describeFaults(rules));
}

/** `Rule 0: matches[0].path: …; Rule 3: filters: …`. */
export function describeFaults({ faults }: RulesVerdict): string {
  return faults.map(({ index, cause }) => `Rule ${index}: ${cause}`).join('; ');
}
