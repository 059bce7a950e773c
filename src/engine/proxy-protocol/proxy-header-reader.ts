import { Timer, type TimerWheel } from '../exchange/timer-wheel.js';
import type { Connection, ConnectionHandler } from '../wire/wire.js';
import { parseProxyHeader, type ProxyHeader } from './parse-proxy-header.js';

/** A header is read in one go nearly always; this is more than the largest. */
const LANDING_BYTES = 8 * 1024;

export interface ProxyHeaderOptions {
  readonly wheel: TimerWheel;
  /** Time in ms for the header to arrive. */
  readonly timeoutMs: number;
  /** The connection is paused; `rest` are the bytes behind the header. */
  readonly done: (header: ProxyHeader, rest: Buffer) => void;
  /** The connection is closed already. */
  readonly refused: (problem: string) => void;
}

/**
 * Reads the PROXY header that a load balancer puts before everything else, TLS included. In: an accepted connection.
 * Out: what the header says and the bytes behind it; or the connection is ended.
 */
export class ProxyHeaderReader extends Timer implements ConnectionHandler {
  readonly #connection: Connection;
  readonly #options: ProxyHeaderOptions;
  #received: Buffer = Buffer.alloc(0);
  #over = false;

  private constructor(connection: Connection, options: ProxyHeaderOptions) {
    super();
    this.#connection = connection;
    this.#options = options;
  }

  /** Takes the connection over until the header is there. */
  static read(connection: Connection, options: ProxyHeaderOptions): void {
    const reader = new ProxyHeaderReader(connection, options);
    connection.handler = reader;
    connection.readInto(Buffer.allocUnsafe(LANDING_BYTES));
    options.wheel.arm(reader, options.timeoutMs);
    connection.resume();
  }

  onConnect(): void {
    // Accepted connections are connected.
  }

  onSecure(): void {
    // TLS begins behind the header.
  }

  onRead(buffer: Buffer, length: number): void {
    if (this.#over) return;
    this.#received = Buffer.concat([this.#received, buffer.subarray(0, length)]);
    const header = parseProxyHeader(this.#received);
    if (!('state' in header)) {
      this.#finish();
      this.#connection.pause();
      this.#options.done(header, this.#received.subarray(header.length));
    } else if (header.state === 'refused') this.#refuse(header.problem);
  }

  onEnd(): void {
    this.#refuse('the connection ended before its PROXY header');
  }

  onDrain(): void {
    // Nothing is written.
  }

  onClose(): void {
    this.#refuse('the connection ended before its PROXY header');
  }

  override expire(): void {
    this.#refuse('the PROXY header did not come in time');
  }

  #refuse(problem: string): void {
    if (this.#over) return;
    this.#finish();
    this.#connection.destroy();
    this.#options.refused(problem);
  }

  #finish(): void {
    this.#over = true;
    this.#options.wheel.remove(this);
  }
}
