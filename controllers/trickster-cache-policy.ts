import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { TricksterCachePolicy } from '../src/apis/policy/trickster-cache-policy.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all TricksterCachePolicies. */
@injectable()
export class TricksterCachePolicyReconciler implements ResourceSource<TricksterCachePolicy> {
  readonly kind = 'TricksterCachePolicy';
  readonly snapshots$: Observable<ResourceSnapshot<TricksterCachePolicy>>;

  constructor(@inject(TOKENS.sources.TricksterCachePolicy) source: ResourceSource<TricksterCachePolicy>) {
    this.snapshots$ = followOurs(source);
  }
}
