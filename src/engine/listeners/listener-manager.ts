import type { Listener } from '../../ir/listener.js';
import type { ListenerOutcome } from '../../ir/proxy-engine.js';
import { messageOf } from '../../util/errors.js';
import type { Connection, Wire } from '../wire/wire.js';

const BACKLOG = 4096;

export interface ListenerManagerOptions {
  readonly wire: Wire;
  readonly reusePort: boolean;
  /** Gets every connection with the key of its listener. */
  readonly accept: (listener: string, connection: Connection) => void;
  /** Opens the socket of a UDP listener, which sees to its datagrams itself. */
  readonly openDatagrams: (listener: Listener) => Promise<OpenSocket>;
}

interface OpenSocket {
  close(): Promise<void>;
}

/**
 * The sockets of a worker. In: the listeners of a revision. Out: open sockets, and which could not be opened. It must
 * not look at what comes through them. A listener whose address and port did not change keeps its socket.
 */
export class ListenerManager {
  readonly #options: ListenerManagerOptions;
  readonly #open = new Map<string, OpenSocket>();

  constructor(options: ListenerManagerOptions) {
    this.#options = options;
  }

  /** Closes what is gone, opens what is new or could not be opened before. Never rejects. */
  async update(listeners: Iterable<Listener>): Promise<(readonly [string, ListenerOutcome])[]> {
    const wanted = [...listeners];
    const keys = new Set(wanted.map(({ key }) => key));
    const gone = [...this.#open].filter(([key]) => !keys.has(key));
    // A new listener may want what an old one held (`::` after `127.0.0.1`), so closing comes first.
    await Promise.all(
      gone.map(([key, acceptor]) => {
        this.#open.delete(key);
        return acceptor.close();
      }),
    );
    return Promise.all(wanted.map(async (listener) => [listener.key, await this.#ensure(listener)] as const));
  }

  /** Stops accepting everywhere; connections that were accepted stay. */
  async close(): Promise<void> {
    await this.update([]);
  }

  async #ensure(listener: Listener): Promise<ListenerOutcome> {
    const { key, transport } = listener;
    if (this.#open.has(key)) return { state: 'serving' };
    try {
      const isUdp = transport === 'udp';
      this.#open.set(key, await (isUdp ? this.#options.openDatagrams(listener) : this.#listen(listener)));
      return { state: 'serving' };
    } catch (error) {
      return { state: 'failed', code: codeOf(error), message: messageOf(error) };
    }
  }

  #listen({ key, address, port }: Listener): Promise<OpenSocket> {
    const { wire, reusePort, accept } = this.#options;
    return wire.listen({
      address,
      port,
      backlog: BACKLOG,
      reusePort,
      accept: (connection) => {
        accept(key, connection);
      },
    });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}
