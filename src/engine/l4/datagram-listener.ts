/**
 * UDP.
 *
 * In: datagrams at the socket of a listener. Out: the same datagrams at an endpoint, and its replies from the address
 * and port that the client sent to. A client's address and port make a session, which stays with its endpoint.
 *
 * With several workers each has such a socket (`reusePort`). The kernel chooses the socket by a hash of both
 * addresses and ports, so the datagrams of a client reach one worker as long as no worker comes or goes.
 */
import type { RemoteInfo, Socket } from 'node:dgram';
import { isUnavailable } from '../exchange/upstream.js';
import type { Listener } from '../../ir/listener.js';
import { RECEIVED, SENT } from '../wire/forwarder.js';
import { DatagramSession } from './datagram-session.js';
import { datagramSocket, hasRoom } from './datagram-socket.js';
import type { RelayServices } from './relay-services.js';
import type { StreamDestination } from './stream-destination.js';

const DEFAULT_MAX_SESSIONS = 1024;

export interface DatagramServices extends Pick<RelayServices, 'wheel' | 'counts' | 'upstreams'> {
  /** Where a listener sends new sessions now. */
  readonly destination: (listener: string) => StreamDestination | undefined;
  readonly reusePort: boolean;
  /** For each listener; one more ends the one that has been quiet the longest. Default 1024. */
  readonly maxSessions?: number;
  readonly onFault: (listener: string, error: Error) => void;
}

export class DatagramListener {
  readonly #listener: string;
  readonly #services: DatagramServices;
  readonly #socket: Socket;
  readonly #bytes: Float64Array;
  /** The quietest first. */
  readonly #sessions = new Map<string, DatagramSession>();

  private constructor(listener: string, services: DatagramServices, socket: Socket) {
    this.#listener = listener;
    this.#services = services;
    this.#socket = socket;
    this.#bytes = services.counts.bytes(listener);
    socket.on('message', (datagram, client) => {
      this.#receive(datagram, client);
    });
    socket.on('error', (error) => {
      services.onFault(listener, error);
    });
  }

  /** Rejects with the system's code (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`). */
  static open({ key, address, port }: Listener, services: DatagramServices): Promise<DatagramListener> {
    const socket = datagramSocket(address, { reusePort: services.reusePort });
    return new Promise((resolve, reject) => {
      const refuse = (error: Error): void => {
        socket.close();
        reject(error);
      };
      socket.once('error', refuse);
      socket.once('listening', () => {
        socket.off('error', refuse);
        resolve(new DatagramListener(key, services, socket));
      });
      socket.bind({ address, port, exclusive: true });
    });
  }

  /** Ends the sessions too: without the socket their replies have no way back. */
  async close(): Promise<void> {
    for (const session of [...this.#sessions.values()]) session.end();
    await new Promise<void>((resolve) => {
      this.#socket.close(() => {
        resolve();
      });
    });
  }

  #receive(datagram: Buffer, client: RemoteInfo): void {
    const now = this.#services.destination(this.#listener);
    const name = `${client.address}|${client.port}`;
    const session = this.#known(name, now) ?? this.#begin(name, client, now);
    if (!session) return;
    this.#bytes[RECEIVED] = (this.#bytes[RECEIVED] ?? 0) + datagram.length;
    session.send(datagram);
  }

  /** The client's session, unless the configuration no longer sends it there. */
  #known(name: string, now: StreamDestination | undefined): DatagramSession | undefined {
    const session = this.#sessions.get(name);
    if (!session) return undefined;
    if (session.destination !== now) {
      if (!now?.includes(session.upstream)) {
        session.end();
        return undefined;
      }
      session.destination = now;
    }
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    return session;
  }

  #begin(
    name: string,
    client: RemoteInfo,
    destination: StreamDestination | undefined,
  ): DatagramSession | undefined {
    const { wheel, counts, upstreams, maxSessions = DEFAULT_MAX_SESSIONS } = this.#services;
    const upstream = destination?.next();
    const endpoint =
      upstream === undefined ? undefined : upstreams.get(upstream)?.choose(undefined, undefined);
    if (!destination || upstream === undefined || !endpoint || isUnavailable(endpoint)) return undefined;
    if (this.#sessions.size >= maxSessions) this.#sessions.values().next().value?.end();
    counts.opened(this.#listener);
    const session = new DatagramSession({
      upstream,
      endpoint,
      destination,
      wheel,
      onReply: (datagram) => {
        this.#reply(datagram, client);
      },
      onOver: () => {
        this.#sessions.delete(name);
        counts.closed(this.#listener);
      },
    });
    if (session.over) return undefined;
    this.#sessions.set(name, session);
    return session;
  }

  #reply(datagram: Buffer, client: RemoteInfo): void {
    if (!hasRoom(this.#socket)) return;
    this.#bytes[SENT] = (this.#bytes[SENT] ?? 0) + datagram.length;
    this.#socket.send(datagram, client.port, client.address, ignore);
  }
}

function ignore(): void {
  // A client that cannot be reached any more is no fault of the listener.
}
