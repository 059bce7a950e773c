import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { UdpRoute } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { attachesToGateway } from './attaches-to-gateway.js';
import { followOurs } from './follow-ours.js';

/** Follows the UDPRoutes that want to attach to a Gateway or a ListenerSet, of whatever controller. */
@injectable()
export class UdpRouteReconciler implements ResourceSource<UdpRoute> {
  readonly kind = 'UDPRoute';
  readonly snapshots$: Observable<ResourceSnapshot<UdpRoute>>;

  constructor(@inject(TOKENS.sources.UDPRoute) source: ResourceSource<UdpRoute>) {
    this.snapshots$ = followOurs(source, attachesToGateway);
  }
}
