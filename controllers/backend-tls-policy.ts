import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { BackendTlsPolicy } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all BackendTLSPolicies. */
@injectable()
export class BackendTlsPolicyReconciler implements ResourceSource<BackendTlsPolicy> {
  readonly kind = 'BackendTLSPolicy';
  readonly snapshots$: Observable<ResourceSnapshot<BackendTlsPolicy>>;

  constructor(@inject(TOKENS.sources.BackendTLSPolicy) source: ResourceSource<BackendTlsPolicy>) {
    this.snapshots$ = followOurs(source);
  }
}
