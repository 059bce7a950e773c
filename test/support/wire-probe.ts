import {
  PENDING,
  type Acceptor,
  type Connection,
  type ConnectionHandler,
  type ConnectOptions,
  type ListenOptions,
  type Wire,
  type WireError,
} from '../../src/engine/wire/wire.js';

const DEADLINE_MS = 5_000;

/** A handler that writes down what happens to it and lets a test wait for that. */
export class Probe implements ConnectionHandler {
  readonly events: string[] = [];
  readonly chunks: Buffer[] = [];
  bytesReceived = 0;
  connected = false;
  secured = false;
  ended = false;
  drains = 0;
  closes = 0;
  error: WireError | undefined;
  /** Called after each event is noted, within the callback. */
  on: Partial<Record<'connect' | 'secure' | 'read' | 'end' | 'drain' | 'close', () => void>> = {};
  readonly #waiting = new Set<() => void>();
  #connection: Connection | undefined;

  get connection(): Connection {
    if (this.#connection === undefined) throw new Error('the probe has no connection yet');
    return this.#connection;
  }

  attach(connection: Connection, buffer: Buffer | undefined): void {
    this.#connection = connection;
    if (buffer !== undefined) {
      connection.readInto(buffer);
      connection.resume();
    }
  }

  get received(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  onConnect(): void {
    this.connected = true;
    this.#note('connect');
  }

  onSecure(): void {
    this.secured = true;
    this.#note('secure');
  }

  onRead(buffer: Buffer, length: number): void {
    this.chunks.push(Buffer.from(buffer.subarray(0, length)));
    this.bytesReceived += length;
    this.#note('read');
  }

  onEnd(): void {
    this.ended = true;
    this.#note('end');
  }

  onDrain(): void {
    this.drains++;
    this.#note('drain');
  }

  onClose(error: WireError | undefined): void {
    this.closes++;
    this.error = error;
    this.#note('close');
  }

  /** Resolves once the condition holds; it is looked at after every event. */
  async until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        reject(new Error(`waited in vain for ${what}; saw ${this.events.join(' ').slice(-300)}`));
      }, DEADLINE_MS);
      const check = (): void => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
    });
  }

  async untilClosed(): Promise<WireError | undefined> {
    await this.until(() => this.closes > 0, 'close');
    return this.error;
  }

  /** Writes everything in pieces, waiting whenever the wire asks to. The pieces are copies. */
  async send(bytes: Buffer, pieceLength = bytes.length): Promise<void> {
    for (let offset = 0; offset < bytes.length; offset += pieceLength) {
      const before = this.drains;
      const outcome = this.connection.write(Buffer.from(bytes.subarray(offset, offset + pieceLength)));
      if (outcome === PENDING) await this.until(() => this.drains > before || this.closes > 0, 'drain');
    }
  }

  #note(event: 'connect' | 'secure' | 'read' | 'end' | 'drain' | 'close'): void {
    this.events.push(event);
    this.on[event]?.();
    for (const check of [...this.#waiting]) check();
  }
}

/** Opens listeners and connections and closes what is left of them at the end. */
export class WireBench {
  readonly faults: { readonly code: string; readonly error: unknown }[] = [];
  readonly #acceptors: Acceptor[] = [];
  readonly #probes: Probe[] = [];
  readonly wire: Wire;

  constructor(create: (report: (fault: { code: string; error: unknown }) => void) => Wire) {
    this.wire = create((fault) => {
      this.faults.push(fault);
    });
  }

  async listen(
    accept: (connection: Connection) => void,
    options: Partial<ListenOptions> = {},
  ): Promise<Acceptor> {
    const defaults = { address: '127.0.0.1', port: 0, backlog: 511, reusePort: false };
    const acceptor = await this.wire.listen({ ...defaults, ...options, accept });
    this.#acceptors.push(acceptor);
    return acceptor;
  }

  /** A listener whose connections get a probe each, in order of arrival. */
  async serve(
    prepare: (probe: Probe, connection: Connection) => void,
    options: Partial<ListenOptions> = {},
  ): Promise<{ readonly acceptor: Acceptor; readonly next: () => Promise<Probe> }> {
    const arrived: Probe[] = [];
    const waiting: ((probe: Probe) => void)[] = [];
    const acceptor = await this.listen((connection) => {
      const probe = this.probe();
      connection.handler = probe;
      probe.attach(connection, undefined);
      prepare(probe, connection);
      const waiter = waiting.shift();
      if (waiter) waiter(probe);
      else arrived.push(probe);
    }, options);
    const next = (): Promise<Probe> => {
      const probe = arrived.shift();
      return probe ? Promise.resolve(probe) : new Promise((resolve) => waiting.push(resolve));
    };
    return { acceptor, next };
  }

  probe(): Probe {
    const probe = new Probe();
    this.#probes.push(probe);
    return probe;
  }

  connect(port: number, buffer: Buffer | undefined, options: Partial<ConnectOptions> = {}): Probe {
    const probe = this.probe();
    const connection = this.wire.connect({ address: '127.0.0.1', port, timeoutMs: 5_000, ...options }, probe);
    probe.attach(connection, buffer);
    return probe;
  }

  async close(): Promise<void> {
    await Promise.all(this.#acceptors.map((acceptor) => acceptor.close()));
    const open = this.#probes.filter((probe) => probe.closes === 0 && hasConnection(probe));
    for (const probe of open) probe.connection.destroy();
    await Promise.all(open.map((probe) => probe.untilClosed()));
  }
}

function hasConnection(probe: Probe): boolean {
  try {
    return probe.connection.remotePort >= 0;
  } catch {
    // A probe whose listener never got a connection.
    return false;
  }
}

/** Bytes that differ everywhere within 64 KiB, so that a swapped or lost piece shows. */
export function pattern(length: number, seed = 0): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8) * 7 + seed) & 0xff;
  return bytes;
}
