import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { ConfigMap } from '../src/apis/core/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all ConfigMaps: parameters of classes and certificates of authorities. */
@injectable()
export class ConfigMapReconciler implements ResourceSource<ConfigMap> {
  readonly kind = 'ConfigMap';
  readonly snapshots$: Observable<ResourceSnapshot<ConfigMap>>;

  constructor(@inject(TOKENS.sources.ConfigMap) source: ResourceSource<ConfigMap>) {
    this.snapshots$ = followOurs(source);
  }
}
