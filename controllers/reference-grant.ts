import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { ReferenceGrant } from '../src/apis/gateway/index.js';
import { GATEWAY_EXPERIMENTAL_GROUP, GATEWAY_GROUP, TRICKSTER_GROUP } from '../src/apis/kinds.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

const REFERRING_GROUPS: ReadonlySet<string> = new Set([
  GATEWAY_GROUP,
  GATEWAY_EXPERIMENTAL_GROUP,
  TRICKSTER_GROUP,
]);

/** Follows the grants that let something of the Gateway API, or a policy of ours, refer into a namespace. */
@injectable()
export class ReferenceGrantReconciler implements ResourceSource<ReferenceGrant> {
  readonly kind = 'ReferenceGrant';
  readonly snapshots$: Observable<ResourceSnapshot<ReferenceGrant>>;

  constructor(@inject(TOKENS.sources.ReferenceGrant) source: ResourceSource<ReferenceGrant>) {
    this.snapshots$ = followOurs(source, ({ spec }) =>
      spec.from.some(({ group }) => REFERRING_GROUPS.has(group)),
    );
  }
}
