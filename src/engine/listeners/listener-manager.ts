import type { Listener } from '../../ir/listener.js';
import type { ListenerOutcome } from '../../ir/proxy-engine.js';
import { messageOf } from '../../util/errors.js';
import type { Acceptor, Connection, Wire } from '../wire/wire.js';

const BACKLOG = 4096;

export interface ListenerManagerOptions {
  readonly wire: Wire;
  readonly reusePort: boolean;
  /** Gets every connection with the key of its listener. */
  readonly accept: (listener: string, connection: Connection) => void;
}

/**
 * The sockets of a worker. In: the listeners of a revision. Out: open sockets, and which could not be opened. It must
 * not look at what comes through them. A listener whose address and port did not change keeps its socket.
 */
export class ListenerManager {
  readonly #options: ListenerManagerOptions;
  readonly #open = new Map<string, Acceptor>();

  constructor(options: ListenerManagerOptions) {
    this.#options = options;
  }

  /** Closes what is gone, opens what is new or could not be opened before. Never rejects. */
  async update(listeners: Iterable<Listener>): Promise<(readonly [string, ListenerOutcome])[]> {
    const wanted = [...listeners].filter(({ transport }) => transport === 'tcp');
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

  async #ensure({ key, address, port }: Listener): Promise<ListenerOutcome> {
    if (this.#open.has(key)) return { state: 'serving' };
    const { wire, reusePort, accept } = this.#options;
    try {
      const acceptor = await wire.listen({
        address,
        port,
        backlog: BACKLOG,
        reusePort,
        accept: (connection) => {
          accept(key, connection);
        },
      });
      this.#open.set(key, acceptor);
      return { state: 'serving' };
    } catch (error) {
      return { state: 'failed', code: codeOf(error), message: messageOf(error) };
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}
