import { sortedBy } from '../util/collections.js';
import type { Graph } from './graph.js';
import { StableValues } from './memo.js';
import type { PlannedInfrastructure } from './status-plan.js';

/** Says what the objects made for Gateways must carry; the same object while nothing of it changed. */
export class InfrastructurePlanner {
  readonly #stable = new StableValues<PlannedInfrastructure>();

  plan({ gateways }: Graph): readonly PlannedInfrastructure[] {
    const planned = gateways.flatMap(({ node, accepted }) => {
      const { labels, annotations } = node.infrastructure;
      const isEmpty = Object.keys(labels).length === 0 && Object.keys(annotations).length === 0;
      if (isEmpty || accepted.status !== 'True') return [];
      return [this.#stable.keep(node.id, { gateway: node.ref, labels, annotations })];
    });
    this.#stable.endPass();
    return sortedBy(planned, ({ gateway }) => `${gateway.namespace}\0${gateway.name}`);
  }
}
