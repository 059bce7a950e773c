import type { AddressPool } from '../apis/infra/address-pool.js';
import { sortedBy } from '../util/collections.js';
import { notUsable, type AddressOutcome } from './addresses.js';
import { gatewayConditions } from './conditions/gateway.js';
import type { GatewayNode } from './gateway.js';
import { selects } from './label-selector.js';
import type { AddressRange, Libraries } from './libraries.js';
import { compareAge } from './precedence.js';
import type { GraphLookup } from './rows.js';

/** Addresses that Gateways hold already, by `namespace/name`: what was assigned before is kept while it can be. */
export type HeldAddresses = ReadonlyMap<string, readonly { readonly value: string }[]>;

interface Pool {
  readonly pool: AddressPool;
  readonly ranges: readonly AddressRange[];
}

/**
 * Mode `pool`: every Gateway gets an address of its own. First everybody keeps what they hold, then requests of
 * `spec.addresses` are met, then the first free address is given out; within each step the older Gateway first.
 */
export function assignPoolAddresses(
  gateways: readonly GatewayNode[],
  pools: Iterable<AddressPool>,
  held: HeldAddresses,
  { lookup, libraries }: { readonly lookup: GraphLookup; readonly libraries: Libraries },
): ReadonlyMap<string, AddressOutcome> {
  const allocation = new Allocation(toPools(pools, libraries), lookup, libraries);
  const ordered = [...gateways].sort(compareAge);
  for (const gateway of ordered) allocation.keep(gateway, held.get(gateway.id) ?? []);
  for (const gateway of ordered) allocation.takeRequested(gateway);
  for (const gateway of ordered) allocation.takeAny(gateway);
  return new Map(ordered.map((gateway) => [gateway.id, allocation.outcomeOf(gateway)]));
}

/** What is no address, range or CIDR is left out: one bad entry must not take the pool away from everybody. */
function toPools(pools: Iterable<AddressPool>, libraries: Libraries): readonly Pool[] {
  return sortedBy(pools, ({ metadata }) => metadata.name).map((pool) => ({
    pool,
    ranges: pool.spec.addresses.flatMap((text) => libraries.parseAddressRange(text) ?? []),
  }));
}

class Allocation {
  /** Address to the Gateway that has it. */
  readonly #holders = new Map<string, string>();
  readonly #byGateway = new Map<string, string[]>();

  readonly #pools: readonly Pool[];
  readonly #lookup: GraphLookup;
  readonly #libraries: Libraries;

  constructor(pools: readonly Pool[], lookup: GraphLookup, libraries: Libraries) {
    this.#pools = pools;
    this.#lookup = lookup;
    this.#libraries = libraries;
  }

  keep(gateway: GatewayNode, held: readonly { readonly value: string }[]): void {
    const requested = this.#requestedValues(gateway);
    for (const { value } of held) {
      const address = this.#libraries.canonicalAddress(value);
      if (address === undefined || !this.#isWanted(gateway, address, requested)) continue;
      this.#take(gateway, address);
    }
  }

  takeRequested(gateway: GatewayNode): void {
    for (const address of this.#requestedValues(gateway)) {
      if (this.#poolsOf(gateway).some(({ ranges }) => contains(ranges, address)))
        this.#take(gateway, address);
    }
  }

  takeAny(gateway: GatewayNode): void {
    let open = this.#openPlaces(gateway) - this.#held(gateway).length;
    if (open <= 0) return;
    const ranges = this.#poolsOf(gateway).flatMap((one) => (one.pool.spec.autoAssign ? one.ranges : []));
    for (const address of addressesOf(ranges)) {
      if (this.#holders.has(address)) continue;
      this.#take(gateway, address);
      if (--open === 0) return;
    }
  }

  outcomeOf(gateway: GatewayNode): AddressOutcome {
    const bind = this.#held(gateway);
    const addresses = bind.map((value) => ({ type: 'IPAddress' as const, value }));
    const { requestedAddresses } = gateway;
    if (requestedAddresses.length === 0) {
      if (bind.length > 0) return { bind, addresses };
      const problem = gatewayConditions.addressNotAssigned(
        'No AddressPool has a free address for the Gateway',
      );
      return { bind, addresses, problem };
    }
    const unmet = requestedAddresses.filter(
      ({ type, value = '' }) =>
        value !== '' &&
        (type !== 'IPAddress' || !bind.includes(this.#libraries.canonicalAddress(value) ?? '')),
    );
    if (unmet.length > 0) {
      return { bind, addresses, problem: notUsable(unmet, 'is in no AddressPool of the Gateway or taken') };
    }
    const withoutValue = requestedAddresses.filter(({ value = '' }) => value === '');
    const isShort = bind.length < this.#openPlaces(gateway);
    // A pool has no host names.
    const impossible = withoutValue.filter(({ type }) => type !== 'IPAddress');
    if (!isShort && impossible.length === 0) return { bind, addresses };
    return { bind, addresses, problem: notUsable(isShort ? withoutValue : impossible, '') };
  }

  /** How many addresses it should have: one when it asks for nothing, else one for each entry that a pool can meet. */
  #openPlaces(gateway: GatewayNode): number {
    const met = this.#requestedValues(gateway).filter((one) => this.#holders.get(one) === gateway.id).length;
    return placesWithoutValue(gateway) + met;
  }

  /** Whether it may keep an address that it holds: it asks for just this, or it takes any. */
  #isWanted(gateway: GatewayNode, address: string, requested: readonly string[]): boolean {
    const pools = this.#poolsOf(gateway).filter(({ ranges }) => contains(ranges, address));
    if (pools.length === 0) return false;
    if (requested.includes(address)) return true;
    if (!pools.some(({ pool }) => pool.spec.autoAssign)) return false;
    const given = this.#held(gateway).filter((one) => !requested.includes(one)).length;
    return given < placesWithoutValue(gateway);
  }

  #requestedValues(gateway: GatewayNode): readonly string[] {
    return gateway.requestedAddresses.flatMap(({ type, value = '' }) =>
      type === 'IPAddress' && value !== '' ? (this.#libraries.canonicalAddress(value) ?? []) : [],
    );
  }

  #poolsOf(gateway: GatewayNode): readonly Pool[] {
    return this.#pools.filter(({ pool: { spec } }) => {
      if (spec.gatewayClassNames && !spec.gatewayClassNames.includes(gateway.className)) return false;
      if (!spec.namespaceSelector) return true;
      const labels = this.#lookup.find('namespaces', gateway.ref.namespace)?.metadata.labels;
      return labels !== undefined && selects(spec.namespaceSelector, labels);
    });
  }

  #held(gateway: GatewayNode): readonly string[] {
    return this.#byGateway.get(gateway.id) ?? [];
  }

  #take(gateway: GatewayNode, address: string): void {
    if (this.#holders.has(address)) return;
    this.#holders.set(address, gateway.id);
    const held = this.#byGateway.get(gateway.id);
    if (held) held.push(address);
    else this.#byGateway.set(gateway.id, [address]);
  }
}

/** How many addresses it takes as they come: one when it asks for nothing at all. */
function placesWithoutValue({ requestedAddresses }: GatewayNode): number {
  if (requestedAddresses.length === 0) return 1;
  return requestedAddresses.filter(({ type, value = '' }) => type === 'IPAddress' && value === '').length;
}

function* addressesOf(ranges: readonly AddressRange[]): Iterable<string> {
  for (const range of ranges) yield* range.addresses();
}

function contains(ranges: readonly AddressRange[], address: string): boolean {
  return ranges.some((range) => range.contains(address));
}
