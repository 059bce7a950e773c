import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { GatewayClass } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows the GatewayClasses of this controller; those of others are none of its business (E-04). */
@injectable()
export class GatewayClassReconciler implements ResourceSource<GatewayClass> {
  readonly kind = 'GatewayClass';
  readonly snapshots$: Observable<ResourceSnapshot<GatewayClass>>;

  constructor(
    @inject(TOKENS.sources.GatewayClass) source: ResourceSource<GatewayClass>,
    @inject(TOKENS.ControllerName) controllerName: string,
  ) {
    this.snapshots$ = followOurs(source, ({ spec }) => spec.controllerName === controllerName);
  }
}
