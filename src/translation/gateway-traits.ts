import { DEFAULT_CLASS_PARAMETERS } from '../graph/class-parameters.js';
import type { Graph } from '../graph/graph.js';
import { StableValues } from '../graph/memo.js';
import type { UpstreamTraits } from './upstream-request.js';

/** What of a Gateway shapes its routes and upstreams. Small on purpose: a Gateway's other changes leave routes alone. */
export interface GatewayTrait extends UpstreamTraits {
  /** `timeout` of the class, when it is not the default, which is the engine's as well. */
  readonly backendRequestMs?: number;
}

/** Traits by Gateway (`namespace/name`); the same object while nothing of it changed. */
export class GatewayTraits {
  readonly #stable = new StableValues<GatewayTrait>();

  of(graph: Graph): ReadonlyMap<string, GatewayTrait> {
    const traits = new Map<string, GatewayTrait>();
    for (const { node } of graph.gateways) {
      const { routingMode, timeoutMs } = node.parameters;
      const trait: GatewayTrait = {
        routingMode,
        ...(node.clientCertificate && { clientCertificate: node.clientCertificate.key }),
        ...(timeoutMs !== DEFAULT_CLASS_PARAMETERS.timeoutMs && { backendRequestMs: timeoutMs }),
      };
      traits.set(node.id, this.#stable.keep(node.id, trait));
    }
    this.#stable.endPass();
    return traits;
  }
}
