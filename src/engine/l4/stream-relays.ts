/**
 * TCP, and TLS that is passed through or has ended here.
 *
 * In: client connections with what was read of them, and where their listener sends them. Out: the same bytes at an
 * endpoint and back, with ends, resets and back-pressure of each direction. It must not look at the bytes.
 */
import type { Connection } from '../wire/wire.js';
import type { RelayServices } from './relay-services.js';
import { Relay } from './relay.js';
import type { StreamDestination } from './stream-destination.js';

/** The relays of a worker. A new configuration does not touch them; endpoints that go do, see {@link Relay}. */
export class StreamRelays {
  readonly #services: RelayServices;
  readonly #relays = new Set<Relay>();

  constructor(services: RelayServices) {
    this.#services = services;
  }

  /** Relays that are open. */
  get size(): number {
    return this.#relays.size;
  }

  /** Takes the connection over; `received` was read from it already and stays as it is. */
  relay(
    connection: Connection,
    listener: string,
    destination: StreamDestination | undefined,
    received: Buffer,
  ): void {
    const key = destination?.next();
    const upstream = key === undefined ? undefined : this.#services.upstreams.get(key);
    const onOver = (over: Relay): void => {
      this.#relays.delete(over);
    };
    const relay = new Relay(this.#services, { listener, upstream, onOver }, connection, received);
    this.#relays.add(relay);
    relay.start();
  }

  /** Ends every relay at once. */
  close(): void {
    for (const relay of [...this.#relays]) relay.close();
  }
}
