import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { TlsRoute } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { attachesToGateway } from './attaches-to-gateway.js';
import { followOurs } from './follow-ours.js';

/** Follows the TLSRoutes that want to attach to a Gateway or a ListenerSet, of whatever controller. */
@injectable()
export class TlsRouteReconciler implements ResourceSource<TlsRoute> {
  readonly kind = 'TLSRoute';
  readonly snapshots$: Observable<ResourceSnapshot<TlsRoute>>;

  constructor(@inject(TOKENS.sources.TLSRoute) source: ResourceSource<TlsRoute>) {
    this.snapshots$ = followOurs(source, attachesToGateway);
  }
}
