import {
  FAILED,
  PENDING,
  type Connection,
  type ConnectionHandler,
  type Wire,
  type WireError,
} from '../../src/engine/wire/wire.js';
import { seededRandom } from './seeded-random.js';
import { contextA, trusting } from './wire-tls-bench.js';

export interface StressOptions {
  readonly wire: Wire;
  readonly seed: number;
  readonly connections: number;
  /** At most this many at once. */
  readonly concurrency: number;
  readonly tls: boolean;
  /** Share of events in which a side does something violent, in percent. */
  readonly violence: number;
  /** Called now and then, for garbage collection. */
  readonly pause?: () => void;
}

export interface StressResult {
  readonly orderly: number;
  readonly cut: number;
  readonly bytes: number;
  /** Anything that must not happen, in words. */
  readonly faults: readonly string[];
}

/**
 * Many connections that echo a pattern of their own, with buffers of random size, random pauses, half-closes and
 * aborts. Every byte that arrives is compared with the pattern of its connection.
 */
export async function stressWire(options: StressOptions): Promise<StressResult> {
  const { wire, connections, concurrency, tls } = options;
  const random = seededRandom(options.seed);
  const run = new Run(options, random);
  const acceptor = await wire.listen({
    address: '127.0.0.1',
    port: 0,
    backlog: 511,
    reusePort: false,
    accept: (connection) => {
      const side = new Side(run, connection, 'echo', 0);
      if (tls) {
        connection.secure({ context: contextA, alpn: [], clientCertificate: 'none' }, Buffer.alloc(0));
      } else {
        side.onSecure();
      }
    },
  });
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started < connections) {
      const seed = ++started;
      await new Promise<void>((resolve) => {
        const side = new Side(run, undefined, 'send', seed, resolve);
        side.adopt(
          wire.connect(
            {
              address: '127.0.0.1',
              port: acceptor.port,
              timeoutMs: 10_000,
              ...(tls
                ? { tls: { context: trusting, serverName: 'a.test', alpn: [], sessionKey: 'stress' } }
                : {}),
            },
            side,
          ),
        );
      });
      if (seed % 50 === 0) options.pause?.();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  await acceptor.close();
  await run.allClosed();
  return { orderly: run.orderly, cut: run.cut, bytes: run.bytes, faults: run.faults };
}

class Run {
  orderly = 0;
  cut = 0;
  bytes = 0;
  readonly faults: string[] = [];
  readonly open = new Set<Side>();
  readonly random: () => number;
  readonly #violence: number;
  #done: (() => void) | undefined;

  constructor(options: StressOptions, random: () => number) {
    this.random = random;
    this.#violence = options.violence;
  }

  dice(sides: number): number {
    return Math.floor(this.random() * sides);
  }

  /** Whether a side may see its peer go in the middle. */
  get rough(): boolean {
    return this.#violence > 0;
  }

  get violent(): boolean {
    return this.dice(10_000) < this.#violence * 100;
  }

  closed(side: Side): void {
    this.open.delete(side);
    if (this.open.size === 0) this.#done?.();
  }

  async allClosed(): Promise<void> {
    if (this.open.size === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      setTimeout(() => {
        reject(new Error(`${this.open.size} sides were never closed`));
      }, 10_000).unref();
    });
  }
}

class Side implements ConnectionHandler {
  readonly #run: Run;
  readonly #role: 'echo' | 'send';
  readonly #seed: number;
  readonly #finished: () => void;
  readonly #total: number;
  #connection: Connection | undefined;
  #buffer: Buffer;
  #sent = 0;
  #received = 0;
  #pending = false;
  #closed = false;
  #violent = false;
  #ended = false;

  constructor(
    run: Run,
    connection: Connection | undefined,
    ...[role, seed, finished = () => undefined]: [role: 'echo' | 'send', seed: number, finished?: () => void]
  ) {
    this.#run = run;
    this.#role = role;
    this.#seed = seed;
    this.#finished = finished;
    this.#total = run.dice(4) === 0 ? run.dice(1_000_000) : run.dice(20_000);
    this.#buffer = Buffer.alloc(1 + run.dice(run.dice(2) === 0 ? 64 : 65_536));
    run.open.add(this);
    if (connection !== undefined) {
      connection.handler = this;
      this.adopt(connection);
    }
  }

  adopt(connection: Connection): void {
    this.#connection = connection;
    connection.readInto(this.#buffer);
    this.#maybeViolent();
  }

  onConnect(): void {
    this.#expectOpen('connect');
    this.#connection?.resume();
    this.#produce();
  }

  onSecure(): void {
    this.#expectOpen('secure');
    this.#connection?.resume();
    this.#maybeViolent();
  }

  onRead(buffer: Buffer, length: number): void {
    this.#expectOpen('read');
    const connection = this.#connection;
    if (connection === undefined) return;
    if (buffer !== this.#buffer) this.#fault('bytes came into a buffer that is not ours');
    this.#run.bytes += length;
    if (this.#role === 'echo') {
      if (connection.write(Buffer.from(buffer.subarray(0, length))) === PENDING) {
        this.#pending = true;
        connection.pause();
      }
    } else {
      this.#compare(buffer, length);
    }
    this.#received += length;
    if (this.#run.dice(8) === 0) {
      this.#buffer = Buffer.alloc(1 + this.#run.dice(65_536));
      connection.readInto(this.#buffer);
    }
    if (this.#run.dice(10) === 0) this.#nap(connection);
    this.#maybeViolent();
  }

  onEnd(): void {
    this.#expectOpen('end');
    if (this.#ended) this.#fault('end twice');
    if (this.#role === 'echo' && !this.#pending) this.#connection?.end();
    else if (this.#role === 'send' && this.#received !== this.#total && !this.#run.rough) {
      this.#fault(`end after ${this.#received} of ${this.#total} bytes`);
    }
    this.#ended = true;
    this.#maybeViolent();
  }

  onDrain(): void {
    this.#expectOpen('drain');
    if (!this.#pending) this.#fault('drain without pending');
    this.#pending = false;
    if (this.#role === 'send') this.#produce();
    else if (this.#ended) this.#connection?.end();
    else this.#connection?.resume();
    this.#maybeViolent();
  }

  onClose(error: WireError | undefined): void {
    if (this.#closed) this.#fault('closed twice');
    this.#closed = true;
    if (error?.code === 'ERR_HANDLER_FAULT') this.#fault(error.message);
    if (error === undefined && !this.#violent) this.#run.orderly++;
    else this.#run.cut++;
    this.#run.closed(this);
    this.#finished();
  }

  #produce(): void {
    const connection = this.#connection;
    while (connection !== undefined && this.#sent < this.#total) {
      const length = Math.min(1 + this.#run.dice(40_000), this.#total - this.#sent);
      const bytes = Buffer.allocUnsafe(length);
      for (let index = 0; index < length; index++) bytes[index] = this.#at(this.#sent + index);
      const outcome = connection.write(bytes);
      if (outcome === FAILED) return;
      this.#sent += length;
      if (outcome === PENDING) {
        this.#pending = true;
        return;
      }
    }
    connection?.end();
  }

  #compare(buffer: Buffer, length: number): void {
    for (let index = 0; index < length; index++) {
      if (buffer[index] === this.#at(this.#received + index)) continue;
      this.#fault(`wrong byte at ${this.#received + index}`);
      return;
    }
  }

  #at(offset: number): number {
    return (offset * 31 + (offset >> 8) * 7 + this.#seed * 13) & 0xff;
  }

  #nap(connection: Connection): void {
    connection.pause();
    const wake = (): void => {
      if (this.#role === 'echo' && this.#pending) return;
      connection.resume();
    };
    if (this.#run.dice(2) === 0) setImmediate(wake);
    else wake();
  }

  #maybeViolent(): void {
    if (this.#closed || !this.#run.violent) return;
    this.#violent = true;
    const connection = this.#connection;
    const act = [
      () => connection?.destroy(),
      () => connection?.reset(),
      () => {
        connection?.end();
        connection?.destroy();
      },
    ][this.#run.dice(3)];
    if (this.#run.dice(2) === 0) setImmediate(() => act?.());
    else act?.();
  }

  #expectOpen(event: string): void {
    if (this.#closed) this.#fault(`${event} after close`);
  }

  #fault(text: string): void {
    this.#run.faults.push(`${this.#role} ${this.#seed}: ${text}`);
  }
}
