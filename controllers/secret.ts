import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { Secret } from '../src/apis/core/index.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows the Secrets that its source selects: TLS ones, and those that something refers to. */
@injectable()
export class SecretReconciler implements ResourceSource<Secret> {
  readonly kind = 'Secret';
  readonly snapshots$: Observable<ResourceSnapshot<Secret>>;

  constructor(@inject(TOKENS.sources.Secret) source: ResourceSource<Secret>) {
    this.snapshots$ = followOurs(source);
  }
}
