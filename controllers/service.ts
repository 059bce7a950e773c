import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { Service } from '../src/apis/core/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all Services. */
@injectable()
export class ServiceReconciler implements ResourceSource<Service> {
  readonly kind = 'Service';
  readonly snapshots$: Observable<ResourceSnapshot<Service>>;

  constructor(@inject(TOKENS.sources.Service) source: ResourceSource<Service>) {
    this.snapshots$ = followOurs(source);
  }
}
