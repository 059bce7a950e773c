import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { HttpRoute } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { attachesToGateway } from './attaches-to-gateway.js';
import { followOurs } from './follow-ours.js';

/** Follows the HTTPRoutes that want to attach to a Gateway or a ListenerSet, of whatever controller. */
@injectable()
export class HttpRouteReconciler implements ResourceSource<HttpRoute> {
  readonly kind = 'HTTPRoute';
  readonly snapshots$: Observable<ResourceSnapshot<HttpRoute>>;

  constructor(@inject(TOKENS.sources.HTTPRoute) source: ResourceSource<HttpRoute>) {
    this.snapshots$ = followOurs(source, attachesToGateway);
  }
}
