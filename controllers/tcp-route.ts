import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { TcpRoute } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { attachesToGateway } from './attaches-to-gateway.js';
import { followOurs } from './follow-ours.js';

/** Follows the TCPRoutes that want to attach to a Gateway or a ListenerSet, of whatever controller. */
@injectable()
export class TcpRouteReconciler implements ResourceSource<TcpRoute> {
  readonly kind = 'TCPRoute';
  readonly snapshots$: Observable<ResourceSnapshot<TcpRoute>>;

  constructor(@inject(TOKENS.sources.TCPRoute) source: ResourceSource<TcpRoute>) {
    this.snapshots$ = followOurs(source, attachesToGateway);
  }
}
