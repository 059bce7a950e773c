import { inject, injectable } from 'inversify';
import type { Observable } from 'rxjs';

import type { AddressPool } from '../src/apis/infra/address-pool.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';
import { TOKENS } from '../src/tokens.js';
import { followOurs } from './follow-ours.js';

/** Follows all AddressPools. */
@injectable()
export class AddressPoolReconciler implements ResourceSource<AddressPool> {
  readonly kind = 'AddressPool';
  readonly snapshots$: Observable<ResourceSnapshot<AddressPool>>;

  constructor(@inject(TOKENS.sources.AddressPool) source: ResourceSource<AddressPool>) {
    this.snapshots$ = followOurs(source);
  }
}
