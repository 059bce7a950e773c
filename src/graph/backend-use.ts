import type { BackendTarget, ResolvedBackend } from './backend-ref.js';
import type { BackendNode, FilterNode } from './http-rule.js';
import type { RouteNode, SettledRoute } from './route.js';

/** Which Gateways send to a Service, through routes that they serve. */
export interface BackendUse {
  /** `namespace/name` of each Gateway; without a port name those that use any port. */
  gatewaysOf(service: string, portName?: string): ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Finds out what routes send to; what a route's rules name is collected once. */
export class BackendUseFinder {
  readonly #targets = new WeakMap<RouteNode['rules'], readonly BackendTarget[]>();

  find(routes: readonly SettledRoute[]): BackendUse {
    const used = new Map<string, Set<string>>();
    for (const { route, parents } of routes) {
      const gateways = new Set(
        parents.flatMap(({ attached }) => attached.map(({ listener }) => listener.gateway)),
      );
      if (gateways.size > 0) for (const target of this.#targetsOf(route)) add(used, target, gateways);
    }
    return {
      gatewaysOf: (service, portName) =>
        used.get(portName === undefined ? service : `${service}/${portName}`) ?? NONE,
    };
  }

  #targetsOf({ rules }: RouteNode): readonly BackendTarget[] {
    const known = this.#targets.get(rules);
    if (known) return known;
    const targets =
      'backends' in rules
        ? targetsOf(rules.backends, [])
        : rules.rules.flatMap(({ backends, filters }) => targetsOf(backends, filters));
    this.#targets.set(rules, targets);
    return targets;
  }
}

function add(
  used: Map<string, Set<string>>,
  { namespace, service, portName }: BackendTarget,
  gateways: ReadonlySet<string>,
): void {
  const id = `${namespace}/${service}`;
  for (const key of portName === '' ? [id] : [id, `${id}/${portName}`]) {
    const known = used.get(key);
    if (known) for (const gateway of gateways) known.add(gateway);
    else used.set(key, new Set(gateways));
  }
}

/** Mirrors and external authorisation included; a port may be there several times. */
function targetsOf(
  backends: readonly BackendNode[],
  filters: readonly FilterNode[],
): readonly BackendTarget[] {
  const resolved: ResolvedBackend[] = [
    ...backends.flatMap((one) => [one.backend, ...one.filters.flatMap(({ backend }) => backend ?? [])]),
    ...filters.flatMap(({ backend }) => backend ?? []),
  ];
  return resolved.flatMap((one) => ('target' in one ? [one.target] : []));
}
