import {
  UV_EOF,
  type HandleBindings,
  type HandleOwner,
  type StreamHandle,
  type StreamReader,
  type TcpHandle,
} from './handle-bindings.js';
import { onRead } from './handle-callbacks.js';
import type { TlsLayer } from './handle-tls.js';
import { HANDSHAKE_CUT } from './wire-faults.js';

/**
 * The reading side of a connection: where bytes land, whether the handle reads, and what waits for a handler that has
 * paused. The read buffer is held here, because libuv knows it only as a pointer.
 */
export class HandleInput implements StreamReader {
  readonly #bindings: HandleBindings;
  readonly #owner: HandleOwner;
  /** What application data comes from: the TCP handle or OpenSSL on it. */
  #stream: StreamHandle;
  #tls: TlsLayer | undefined;
  /** The handler's. */
  #buffer: Buffer | undefined;
  /** What the stream writes into: the handler's buffer, or {@link SCRATCH}; absent before the first `readInto`. */
  #landing: Buffer | undefined;
  #inRead = false;
  /** Decrypted bytes that came after a pause: OpenSSL cannot be stopped in the middle of what it has. */
  #rest: Buffer | undefined;
  #flushing = false;
  /** The handler wants bytes. */
  #wanted = false;
  /** The handle reads. */
  #reading = false;
  #peerEnded = false;
  #endTold = false;

  constructor(bindings: HandleBindings, raw: TcpHandle, owner: HandleOwner) {
    this.#bindings = bindings;
    this.#owner = owner;
    this.#stream = raw;
    raw.reader = this;
    raw.onread = onRead;
  }

  /** Whether the handler knows that no more bytes will come. */
  get isEndTold(): boolean {
    return this.#endTold;
  }

  readInto(buffer: Buffer): void {
    if (buffer === this.#buffer || buffer.length === 0 || this.#owner.closed) return;
    this.#buffer = buffer;
    // The end of a read, and of a copy out of SCRATCH, tells the stream about the new buffer for nothing.
    if (this.#inRead || this.#landing === SCRATCH) return;
    this.#landing = buffer;
    this.#stream.useUserBuffer(buffer);
    this.readOrStop();
  }

  resume(): void {
    if (this.#wanted || this.#owner.closed) return;
    this.#wanted = true;
    if (this.#rest !== undefined || (this.#peerEnded && !this.#endTold)) this.#flushLater();
    else this.readOrStop();
  }

  pause(): void {
    if (!this.#wanted) return;
    this.#wanted = false;
    this.readOrStop();
  }

  /** From now on through OpenSSL. */
  secure(layer: TlsLayer): void {
    const { stream } = layer;
    this.#tls = layer;
    this.#stream = stream;
    stream.reader = this;
    stream.onread = onRead;
    stream.useUserBuffer(SCRATCH);
    this.#landing = SCRATCH;
  }

  /** Reads when there is somebody who wants it and a connection to read from, else not. */
  readOrStop(): void {
    const handshaking = this.#tls !== undefined && !this.#tls.secured;
    const wanted = this.#wanted && this.#buffer !== undefined && this.#rest === undefined;
    const read = (handshaking || wanted) && this.#owner.isConnected && !this.#peerEnded;
    if (read === this.#reading || this.#owner.closed) return;
    this.#reading = read;
    const status = read ? this.#stream.readStart() : this.#stream.readStop();
    if (status !== 0) this.#owner.fail(status);
  }

  read(): Buffer | undefined {
    const { state, readBytesOrError } = this.#bindings;
    const length = state[readBytesOrError] ?? 0;
    if (length === 0 || this.#owner.closed) return undefined;
    const landing = this.#landing;
    if (length < 0 || landing === undefined) {
      this.#receivedEnd(length);
      return undefined;
    }
    const buffer = this.#buffer;
    if (!this.#wanted || buffer === undefined || this.#rest !== undefined || length > buffer.length) {
      this.#keep(landing.subarray(0, length));
      return undefined;
    }
    if (landing !== buffer) landing.copy(buffer, 0, 0, length);
    this.#inRead = true;
    this.#owner.received(buffer, length);
    this.#inRead = false;
    return this.#switchLanding(landing);
  }

  /** What waits is wanted by nobody any more. */
  drop(): void {
    this.#rest = undefined;
  }

  /** Delivers what waited. */
  flush(): void {
    this.#flushing = false;
    const rest = this.#rest;
    let offset = 0;
    while (rest !== undefined && offset < rest.length && this.#wanted && !this.#owner.closed) {
      const buffer = this.#buffer;
      if (buffer === undefined) return;
      const length = rest.copy(buffer, 0, offset);
      offset += length;
      this.#rest = offset < rest.length ? rest.subarray(offset) : undefined;
      this.#owner.received(buffer, length);
    }
    if (this.#peerEnded && this.#wanted && this.#rest === undefined) this.#tellEnd();
    else this.readOrStop();
  }

  #receivedEnd(status: number): void {
    this.#reading = false;
    const handshaking = this.#tls !== undefined && !this.#tls.secured;
    if (handshaking || status !== UV_EOF) {
      this.#owner.fail(status === UV_EOF ? HANDSHAKE_CUT : status);
      return;
    }
    this.#peerEnded = true;
    if (this.#wanted && this.#rest === undefined) this.#tellEnd();
  }

  #switchLanding(landing: Buffer): Buffer | undefined {
    // OpenSSL goes on with what it has, although paused: not into a buffer that the handler may be writing from.
    const next = this.#tls !== undefined && !this.#wanted ? SCRATCH : this.#buffer;
    if (next === landing) return undefined;
    this.#landing = next;
    return next;
  }

  #tellEnd(): void {
    if (this.#endTold || this.#owner.closed) return;
    this.#endTold = true;
    this.#owner.ended();
  }

  #keep(bytes: Buffer): void {
    this.#rest = this.#rest === undefined ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    if (this.#wanted) this.#flushLater();
  }

  /** Bytes that waited are delivered from a fresh stack: callbacks never run within `resume`. */
  #flushLater(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(flush, this);
  }
}

function flush(input: HandleInput): void {
  input.flush();
}

/**
 * Where bytes of TLS connections land when the handler's buffer must not be touched; copied out at once. One for each
 * thread: a read is consumed before the next one starts.
 */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
