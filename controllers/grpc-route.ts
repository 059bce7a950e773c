import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { GrpcRoute } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { attachesToGateway } from './attaches-to-gateway.js';
import { followOurs } from './follow-ours.js';

/** Follows the GRPCRoutes that want to attach to a Gateway or a ListenerSet, of whatever controller. */
@injectable()
export class GrpcRouteReconciler implements ResourceSource<GrpcRoute> {
  readonly kind = 'GRPCRoute';
  readonly snapshots$: Observable<ResourceSnapshot<GrpcRoute>>;

  constructor(@inject(TOKENS.sources.GRPCRoute) source: ResourceSource<GrpcRoute>) {
    this.snapshots$ = followOurs(source, attachesToGateway);
  }
}
