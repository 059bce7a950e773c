import type { AddressOutcome } from './addresses.js';
import type { ListenerNode } from './listener.js';

/** Keys of the IR listeners that carry a listener, one for each address of its Gateway: `tcp/127.0.0.1:80`. */
export function socketKeysOf({ protocol, port }: ListenerNode, { bind }: AddressOutcome): readonly string[] {
  const transport = protocol === 'udp' ? 'udp' : 'tcp';
  return bind.map((address) => `${transport}/${address.includes(':') ? `[${address}]` : address}:${port}`);
}
