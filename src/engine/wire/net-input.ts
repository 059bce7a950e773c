import type { Socket } from 'node:net';
import { HANDSHAKE_CUT } from './wire-faults.js';
import type { WireError } from './wire.js';

/** A connection, as its reading side calls it. */
export interface NetInputOwner {
  readonly closed: boolean;
  /** TLS is meant to be there, but is not yet: nothing that is read is for the handler. */
  readonly handshaking: boolean;
  /** `length` bytes are at the start of the handler's buffer. */
  received(buffer: Buffer, length: number): void;
  /** The peer sent FIN, and everything before it was received. */
  ended(): void;
  fail(error: WireError): void;
}

/**
 * The reading side of a connection: cuts what Node's sockets emit to the handler's buffer, and keeps what comes while
 * the handler has paused.
 */
export class NetInput {
  readonly #owner: NetInputOwner;
  /** What application data comes from. */
  #socket: Socket;
  #buffer: Buffer | undefined;
  /** Bytes that came while paused, or that did not fit into the handler's buffer. */
  #rest: Buffer | undefined;
  #reading = false;
  #flushing = false;
  /** The peer's FIN has come, but not been told while bytes before it wait. */
  #peerEnded = false;
  #endTold = false;

  constructor(socket: Socket, owner: NetInputOwner) {
    this.#socket = socket;
    this.#owner = owner;
  }

  /** From now on bytes come from there. */
  listen(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', this.onData);
    socket.on('end', this.#onEnd);
    socket.pause();
  }

  /** Leaves the socket to someone else. */
  release(): void {
    this.#socket.off('data', this.onData);
    this.#socket.off('end', this.#onEnd);
    this.#socket.pause();
  }

  /** What waits is the caller's from now on. */
  takeRest(): Buffer | undefined {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest;
  }

  readInto(buffer: Buffer): void {
    this.#buffer = buffer;
  }

  resume(): void {
    if (this.#reading || this.#owner.closed) return;
    this.#reading = true;
    if (this.#rest !== undefined || this.#peerEnded) this.#flushLater();
    else if (!this.#owner.handshaking) this.#socket.resume();
  }

  pause(): void {
    this.#reading = false;
    if (!this.#owner.handshaking) this.#socket.pause();
  }

  /** Nobody wants anything any more. */
  stop(): void {
    this.#reading = false;
    this.#rest = undefined;
  }

  /** The connection, and TLS on it, is there: now it is read if that is wanted. */
  ready(): void {
    if (this.#reading) this.#socket.resume();
  }

  /** Called by the socket, or by who has made it read into a buffer of his own: then it emits no data. */
  readonly onData = (chunk: Buffer): void => {
    if (this.#owner.closed) return;
    if (this.#rest !== undefined) this.#rest = Buffer.concat([this.#rest, chunk]);
    else this.#deliver(chunk);
  };

  readonly #onEnd = (): void => {
    if (this.#owner.closed) return;
    if (this.#owner.handshaking) {
      this.#owner.fail(HANDSHAKE_CUT);
      return;
    }
    this.#peerEnded = true;
    if (this.#endTold || this.#rest !== undefined) return;
    this.#endTold = true;
    this.#owner.ended();
  };

  #deliver(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length && !this.#owner.closed) {
      const buffer = this.#buffer;
      // Behind `secure` the rest of the chunk is OpenSSL's.
      if (!this.#mayDeliver() || buffer === undefined || buffer.length === 0) {
        this.#rest = chunk.subarray(offset);
        return;
      }
      const length = chunk.copy(buffer, 0, offset);
      offset += length;
      this.#owner.received(buffer, length);
    }
  }

  /** Bytes that waited are delivered from a fresh stack: callbacks never run within `resume`. */
  #flushLater(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(flush, this);
  }

  /** Delivers what waited. */
  flush(): void {
    this.#flushing = false;
    if (!this.#mayDeliver()) return;
    const rest = this.takeRest();
    if (rest !== undefined) this.#deliver(rest);
    if (this.#peerEnded) this.#onEnd();
    if (this.#mayDeliver() && this.#rest === undefined) this.#socket.resume();
  }

  #mayDeliver(): boolean {
    return this.#reading && !this.#owner.handshaking && !this.#owner.closed;
  }
}

function flush(input: NetInput): void {
  input.flush();
}
