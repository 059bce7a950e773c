import { Memo } from './memo.js';
import type { Policies } from './policies.js';
import { cachePolicyAncestors, policyEvents } from './policy-statuses.js';
import { backendTlsAncestors } from './settle-backend-tls.js';
import type { AncestorStatus, PlannedEvent, PlannedStatus } from './status-plan.js';
import type { BackendTlsNode } from './backend-tls-policy.js';
import type { CachePolicyNode } from './cache-policy.js';

/** The API server takes no more of them. */
const MAX_ANCESTORS = 16;

/** Says what the status of every policy should be; the same object while nothing of it changed. */
export class PolicyStatusPlanner {
  readonly #controllerName: string;
  readonly #statuses = new Memo<PlannedStatus>();

  constructor(controllerName: string) {
    this.#controllerName = controllerName;
  }

  plan(policies: Policies): {
    readonly statuses: readonly PlannedStatus[];
    readonly events: readonly PlannedEvent[];
  } {
    const events: PlannedEvent[] = [];
    const plan = (node: BackendTlsNode | CachePolicyNode, all: readonly AncestorStatus[]): PlannedStatus => {
      events.push(...policyEvents(node, all));
      const ancestors = all.slice(0, MAX_ANCESTORS);
      const { ref, generation } = node;
      // What was worked out is compared as a whole, so that equal entries are the same as in the pass before.
      return this.#statuses.get(`${ref.kind}/${node.id}`, [node, ancestors], () => ({
        object: ref,
        generation,
        status: { shape: 'policy', ancestors },
      }));
    };
    const { backendTlsSettlement: tls, backendUse, cacheSettlement, cacheReach } = policies;
    const statuses = [
      ...policies.backendTls.map((node) =>
        plan(node, backendTlsAncestors(node, tls, backendUse, this.#controllerName)),
      ),
      ...policies.cache.map((node) =>
        plan(node, cachePolicyAncestors(node, cacheSettlement, cacheReach, this.#controllerName)),
      ),
    ];
    this.#statuses.endPass();
    return { statuses, events };
  }
}
