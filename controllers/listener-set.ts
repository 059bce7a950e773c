import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { ListenerSet } from '../src/apis/gateway/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all ListenerSets: whose they are stands in the class of their parent. */
@injectable()
export class ListenerSetReconciler implements ResourceSource<ListenerSet> {
  readonly kind = 'ListenerSet';
  readonly snapshots$: Observable<ResourceSnapshot<ListenerSet>>;

  constructor(@inject(TOKENS.sources.ListenerSet) source: ResourceSource<ListenerSet>) {
    this.snapshots$ = followOurs(source);
  }
}
