import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { BackendTrafficPolicy } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all XBackendTrafficPolicies. */
@injectable()
export class BackendTrafficPolicyReconciler implements ResourceSource<BackendTrafficPolicy> {
  readonly kind = 'XBackendTrafficPolicy';
  readonly snapshots$: Observable<ResourceSnapshot<BackendTrafficPolicy>>;

  constructor(@inject(TOKENS.sources.XBackendTrafficPolicy) source: ResourceSource<BackendTrafficPolicy>) {
    this.snapshots$ = followOurs(source);
  }
}
