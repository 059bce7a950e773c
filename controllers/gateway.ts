import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { Gateway } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all Gateways: whose they are stands in their class, which the graph joins with them. */
@injectable()
export class GatewayReconciler implements ResourceSource<Gateway> {
  readonly kind = 'Gateway';
  readonly snapshots$: Observable<ResourceSnapshot<Gateway>>;

  constructor(@inject(TOKENS.sources.Gateway) source: ResourceSource<Gateway>) {
    this.snapshots$ = followOurs(source);
  }
}
