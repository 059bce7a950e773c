import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { Namespace } from '../src/apis/core/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all Namespaces: their labels decide who may attach. */
@injectable()
export class NamespaceReconciler implements ResourceSource<Namespace> {
  readonly kind = 'Namespace';
  readonly snapshots$: Observable<ResourceSnapshot<Namespace>>;

  constructor(@inject(TOKENS.sources.Namespace) source: ResourceSource<Namespace>) {
    this.snapshots$ = followOurs(source);
  }
}
