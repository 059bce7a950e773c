import type { GatewayAddress } from '../apis/gateway/gateway.js';
import type { Condition } from '../apis/meta.js';
import { gatewayConditions } from './conditions/gateway.js';
import type { GatewayNode } from './gateway.js';
import type { Libraries } from './libraries.js';
import type { StatusAddress } from './status-plan.js';

/** Where a Gateway is reached and where its listeners are bound. */
export interface AddressOutcome {
  /** Addresses to bind, `::` for all of both families; empty when there is none yet. */
  readonly bind: readonly string[];
  readonly addresses: readonly StatusAddress[];
  /** Why Programmed is False. */
  readonly problem?: Condition;
}

/** The address of mode `shared`: that of the published Service. Undefined: none is configured, nothing is published. */
export type PublishedAddresses = readonly StatusAddress[] | undefined;

const EVERYWHERE: readonly string[] = ['::'];

/** Mode `shared`: all Gateways have the published address and share the ports. */
export function sharedAddress(
  node: GatewayNode,
  published: PublishedAddresses,
  libraries: Libraries,
): AddressOutcome {
  const available = published ?? [];
  if (node.requestedAddresses.length === 0) {
    const missing = published?.length === 0;
    return {
      bind: EVERYWHERE,
      addresses: available,
      ...(missing && {
        problem: gatewayConditions.addressNotAssigned('The published Service has no address yet'),
      }),
    };
  }
  const chosen: StatusAddress[] = [];
  const missing: GatewayAddress[] = [];
  for (const wanted of node.requestedAddresses) {
    const found = available.filter((address) => fits(address, wanted, libraries));
    if (found.length === 0) missing.push(wanted);
    for (const address of found) if (!chosen.includes(address)) chosen.push(address);
  }
  return {
    bind: EVERYWHERE,
    addresses: chosen,
    ...(missing.length > 0 && { problem: notUsable(missing, 'is not one of the published Service') }),
  };
}

/** An entry without a value takes every address of its type. */
function fits(address: StatusAddress, { type, value = '' }: GatewayAddress, libraries: Libraries): boolean {
  if (address.type !== type) return false;
  if (value === '') return true;
  return type === 'IPAddress'
    ? libraries.canonicalAddress(address.value) === libraries.canonicalAddress(value)
    : address.value.toLowerCase() === value.toLowerCase();
}

export function notUsable(addresses: readonly GatewayAddress[], why: string): Condition {
  const withoutValue = addresses.find(({ value = '' }) => value === '');
  if (withoutValue) {
    return gatewayConditions.addressNotAssigned(
      `spec.addresses: no address of type ${withoutValue.type} can be assigned`,
    );
  }
  const values = addresses.map(({ value }) => value).join(', ');
  return gatewayConditions.addressNotUsable(`spec.addresses: ${values} ${why}`);
}
