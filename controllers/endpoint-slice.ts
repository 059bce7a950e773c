import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import { SERVICE_NAME_LABEL, type EndpointSlice } from '../src/apis/core/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows the EndpointSlices that belong to a Service. */
@injectable()
export class EndpointSliceReconciler implements ResourceSource<EndpointSlice> {
  readonly kind = 'EndpointSlice';
  readonly snapshots$: Observable<ResourceSnapshot<EndpointSlice>>;

  constructor(@inject(TOKENS.sources.EndpointSlice) source: ResourceSource<EndpointSlice>) {
    this.snapshots$ = followOurs(
      source,
      ({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] !== undefined,
    );
  }
}
