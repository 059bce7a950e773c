import { compareAge } from '../graph/precedence.js';
import type { RouteNode } from '../graph/route.js';
import type { PlannedEvent } from '../graph/status-plan.js';
import type { HttpMatch, ValueMatch } from '../ir/http.js';
import { compareText } from '../util/collections.js';
import { toGrpcMatches, toHttpMatches } from './matches.js';

interface SignedMatch {
  /** Equal for matches that meet exactly the same requests. */
  readonly signature: string;
  readonly rule: number;
}

/** Finds matches of a virtual host that an older route has as well: they are never reached. */
export class PathConflicts {
  /** A route's matches are the same wherever it is served. */
  readonly #signed = new WeakMap<RouteNode['rules'], readonly SignedMatch[]>();

  find(hostname: string, routes: readonly RouteNode[]): readonly PlannedEvent[] {
    if (routes.length < 2) return [];
    const holders = new Map<string, RouteNode>();
    const events: PlannedEvent[] = [];
    for (const route of [...new Set(routes)].sort(compareAge)) {
      for (const { signature, rule } of this.#signedMatches(route)) {
        const holder = holders.get(signature);
        if (!holder) holders.set(signature, route);
        else if (holder !== route) events.push(conflict(route, rule, `${holder.key} on host ${hostname}`));
      }
    }
    return events;
  }

  #signedMatches(route: RouteNode): readonly SignedMatch[] {
    const known = this.#signed.get(route.rules);
    if (known) return known;
    const signed = signMatches(route);
    this.#signed.set(route.rules, signed);
    return signed;
  }
}

function signMatches(route: RouteNode): readonly SignedMatch[] {
  if (route.kind === 'HTTPRoute') {
    return route.rules.rules.flatMap((rule) => sign(toHttpMatches(rule.matches), rule.index));
  }
  if (route.kind !== 'GRPCRoute') return [];
  return route.rules.rules.flatMap((rule) => sign(toGrpcMatches(rule.matches), rule.index));
}

function sign(matches: readonly HttpMatch[], rule: number): readonly SignedMatch[] {
  return matches.map(({ path, method = '', headers, queryParams }) => ({
    signature: JSON.stringify([path.type, path.value, method, ordered(headers), ordered(queryParams)]),
    rule,
  }));
}

/** The order of conditions means nothing. */
function ordered(values: readonly ValueMatch[]): readonly (readonly string[])[] {
  return values
    .map(({ name, type, value }) => [name, type, value] as const)
    .sort(([a], [b]) => compareText(a, b));
}

function conflict({ ref }: RouteNode, rule: number, holder: string): PlannedEvent {
  const message = `A match of spec.rules[${rule}] is that of the older ${holder}, which is served instead`;
  return { object: ref, type: 'Warning', reason: 'PathConflict', message };
}
