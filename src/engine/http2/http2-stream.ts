import type { FieldList } from '../exchange/fields.js';
import { type Fields } from '../exchange/fields.js';
import { Piece } from '../exchange/piece.js';
import { FAILED, PENDING, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import { bufferPool } from './buffer-pool.js';
import { DEFAULT_WINDOW } from './frame.js';
import type { FrameWriter } from './frame-writer.js';
import type { HeaderEncoder } from './hpack/header-encoder.js';

/** What a stream needs of its connection. */
export interface StreamHost {
  readonly writer: FrameWriter;
  readonly encoder: HeaderEncoder;
  /** Bytes of DATA that the connection's flow control allows us. */
  sendWindow: number;
  /** Largest DATA payload. */
  readonly maxFrame: number;
  /** The stream has DATA that its own window allows: it waits for its turn. */
  enqueue(stream: Http2Stream): void;
  /** DATA was sent. */
  onDataSent(length: number, completes: boolean): void;
  /** How many bytes more than now the stream's receive window may have, for a peer that fills it. */
  growth(stream: Http2Stream): number;
  /** We end the stream with RST_STREAM. */
  reset(stream: Http2Stream, code: number): void;
  /** Both directions have ended. */
  forget(stream: Http2Stream): void;
}

/**
 * - `ended`: the connection did.
 * - `fault`: the peer broke a rule on this stream.
 * - `unprocessed`: the peer says that it has not acted on the stream (RFC 9113 §8.7).
 */
export type Loss = 'ended' | 'fault' | 'unprocessed';

const NONE: Buffer = Buffer.alloc(0);

/**
 * One stream (RFC 9113 §5): both flow-control windows, what waits to be sent, and what was received while nobody
 * took it. Each direction has at most one piece outstanding; received bytes are bounded by the window we granted.
 */
export abstract class Http2Stream {
  /** 0 while the stream waits for its connection. */
  id = 0;
  sendWindow = 0;
  /** We have sent END_STREAM. */
  localClosed = false;
  /** The peer has sent END_STREAM. */
  remoteClosed = false;
  /** Reset by either side, or the connection is lost: nothing is sent or delivered any more. */
  gone = false;
  /** In the connection's queue of streams that may send. */
  queued = false;
  /** Bytes of the message that content-length promises, and that came (RFC 9113 §8.1.1); -1: not given. */
  expectedLength = -1;
  receivedLength = 0;

  /** What the peer may still send, and what it may send at most. */
  receiveWindow = DEFAULT_WINDOW;
  receiveLimit = DEFAULT_WINDOW;

  // Output that waits: one piece, then perhaps trailers.
  #out = NONE;
  #outStart = 0;
  #outEnd = 0;
  #outLast = false;
  #outTrailers: Fields | undefined;

  // Input. `#held` came while paused; `#pinned` is with whoever answered PENDING.
  #paused: boolean;
  #discards = false;
  #held = NONE;
  #heldLength = 0;
  #pinned = NONE;
  #pinnedLength = 0;
  #credit = 0;
  #inTrailers: FieldList | undefined;
  /** The end was delivered. */
  #ended = false;

  constructor(
    protected host: StreamHost,
    paused: boolean,
  ) {
    this.#paused = paused;
  }

  /** Becomes as new, on another connection: the peer has not acted on what was sent. */
  protected renew(host: StreamHost): void {
    this.host = host;
    this.id = 0;
    this.gone = false;
    this.queued = false;
    this.localClosed = false;
    this.receiveWindow = DEFAULT_WINDOW;
    this.receiveLimit = DEFAULT_WINDOW;
    this.#credit = 0;
    this.#out = NONE;
    this.#outTrailers = undefined;
  }

  /** A piece of the message's body. May be empty when it is the last. */
  protected abstract deliver(piece: Piece): WriteOutcome;
  protected abstract deliverTrailers(fields: FieldList): void;
  /** What {@link send} answered `PENDING` for has been sent. */
  protected abstract onSent(): void;
  /** Both directions have ended: the connection no longer knows the stream. */
  onForgotten(): void {
    // Most have ended for their owner when the last piece was handed on.
  }
  /** The peer reset the stream. */
  abstract onPeerReset(code: number): void;
  abstract onLost(detail: string, why: Loss): void;

  // ---- output

  get hasOutput(): boolean {
    return this.#out !== NONE || this.#outTrailers !== undefined;
  }

  protected send(piece: Piece): WriteOutcome {
    if (this.gone || this.localClosed) return FAILED;
    if (this.#out === NONE) {
      this.#out = piece.buffer;
      this.#outStart = piece.start;
      this.#outEnd = piece.end;
    } else {
      // Only what was sent along with the head may still wait here, and that is a copy.
      this.#out = Buffer.concat([this.#out.subarray(this.#outStart, this.#outEnd), piece.view()]);
      this.#outStart = 0;
      this.#outEnd = this.#out.length;
    }
    this.#outLast = piece.last;
    return this.pump(Infinity) ? WRITTEN : PENDING;
  }

  /** Makes what waits independent of its producer. */
  protected detachOutput(): void {
    if (this.#out === NONE) return;
    this.#out = Buffer.from(this.#out.subarray(this.#outStart, this.#outEnd));
    this.#outStart = 0;
    this.#outEnd = this.#out.length;
  }

  protected sendEnd(trailers: Fields): void {
    if (this.gone || this.localClosed) return;
    this.#outTrailers = trailers;
    if (this.#out === NONE && this.id !== 0) this.#finish();
    else this.#outTrailers = trailers.toList();
  }

  /**
   * Sends at most `frames` DATA frames of what waits, as the windows and the writer allow.
   * @returns true when nothing waits any more.
   */
  pump(frames: number): boolean {
    const { host } = this;
    const { writer } = host;
    if (this.id === 0) return false;
    for (let sent = 0; this.#out !== NONE; sent++) {
      const left = this.#outEnd - this.#outStart;
      let length = left;
      if (left > 0) {
        if (this.sendWindow <= 0) return false;
        length = Math.min(left, host.maxFrame, this.sendWindow, host.sendWindow);
        if (length > 0 && sent < frames) length = Math.min(length, writer.dataRoom());
        else length = 0;
        if (length <= 0) {
          host.enqueue(this);
          return false;
        }
      }
      const last = this.#outLast && length === left;
      writer.data(this.id, length, last);
      if (length > 0) writer.payload(this.#out, this.#outStart, this.#outStart + length);
      this.#outStart += length;
      this.sendWindow -= length;
      host.sendWindow -= length;
      host.onDataSent(length, length === left);
      if (length === left) {
        this.#out = NONE;
        if (last) this.#closeLocal();
      }
    }
    if (this.#outTrailers) this.#finish();
    return true;
  }

  /** {@link pump} for what was `PENDING`. */
  pumpQueued(frames: number): void {
    if (this.gone || this.#out === NONE) return;
    if (this.pump(frames)) this.onSent();
  }

  /** The peer moved the window by `delta`. @returns false when it is now larger than RFC 9113 §6.9.1 allows. */
  moveSendWindow(delta: number): boolean {
    const before = this.sendWindow;
    this.sendWindow += delta;
    if (this.sendWindow > 0x7fff_ffff) return false;
    if (before <= 0 && this.sendWindow > 0 && this.#out !== NONE) this.host.enqueue(this);
    return true;
  }

  #finish(): void {
    const trailers = this.#outTrailers;
    this.#outTrailers = undefined;
    if (!trailers) return;
    const { encoder, writer } = this.host;
    encoder.begin();
    encoder.fields(trailers);
    // Trailers of which nothing is left would be an empty block: an empty DATA frame ends the stream as well.
    if (encoder.length === 0) writer.data(this.id, 0, true);
    else writer.headers(this.id, encoder.bytes, encoder.length, true);
    this.#closeLocal();
  }

  #closeLocal(): void {
    this.localClosed = true;
    if (this.remoteClosed) this.host.forget(this);
    else this.onLocalEnd();
  }

  /** We have ended our direction, the peer has not. */
  protected abstract onLocalEnd(): void;

  /** A head with END_STREAM was written. */
  protected endLocal(): void {
    this.#closeLocal();
  }

  // ---- input

  get pausedInput(): boolean {
    return this.#paused;
  }

  /** The message is complete as far as the peer is concerned. @returns false when it is shorter than promised. */
  endRemote(): boolean {
    this.remoteClosed = true;
    const complete = this.expectedLength < 0 || this.receivedLength === this.expectedLength;
    if (complete && this.localClosed) this.host.forget(this);
    return complete;
  }

  /** @returns false when the body is longer than promised. */
  countReceived(length: number): boolean {
    this.receivedLength += length;
    return this.expectedLength < 0 || this.receivedLength <= this.expectedLength;
  }

  /**
   * Hands on received bytes, or keeps a copy while they are not wanted.
   * @returns true when the piece's buffer was given away.
   */
  take(piece: Piece): boolean {
    if (this.gone) return false;
    if (this.#discards) {
      this.consume(piece.length);
      return false;
    }
    if (!this.#paused && this.#heldLength === 0) return this.#offer(piece);
    if (piece.length > 0) this.#hold(piece);
    return false;
  }

  /** One buffer however small the frames are; the receive window bounds it. */
  #hold(piece: Piece): void {
    const needed = this.#heldLength + piece.length;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#heldLength);
      this.#held = larger;
    }
    piece.buffer.copy(this.#held, this.#heldLength, piece.start, piece.end);
    this.#heldLength = needed;
  }

  /** The message ended with trailers; without any left it just ends. */
  takeTrailers(fields: FieldList | undefined): void {
    this.#inTrailers = fields;
    if (!this.#paused && this.#heldLength === 0) this.#deliverEnd();
  }

  /** Nobody wants the rest of what the peer sends. */
  protected discardInput(): void {
    this.#discards = true;
    this.#held = NONE;
    this.#heldLength = 0;
  }

  protected pauseInput(): void {
    this.#paused = true;
  }

  /** Everything that was handed on has been taken: hand on what came meanwhile. */
  protected resumeInput(): void {
    if (this.#pinned !== NONE) {
      bufferPool.release(this.#pinned);
      this.#pinned = NONE;
    }
    this.#paused = false;
    if (this.#pinnedLength > 0) {
      const length = this.#pinnedLength;
      this.#pinnedLength = 0;
      this.consume(length);
    }
    if (this.#heldLength > 0) {
      const held = this.#held;
      const length = this.#heldLength;
      this.#held = NONE;
      this.#heldLength = 0;
      const last = this.remoteClosed && this.#inTrailers === undefined;
      this.#offer(new Piece().set(held, 0, length, last));
    }
    if (!this.pausedInput) this.#deliverEnd();
  }

  #deliverEnd(): void {
    if (!this.remoteClosed || this.#ended || this.gone) return;
    this.#ended = true;
    if (this.#inTrailers) this.deliverTrailers(this.#inTrailers);
    else this.deliver(new Piece().clear(true));
  }

  #offer(piece: Piece): boolean {
    const { length, last, buffer } = piece;
    if (last) this.#ended = true;
    const outcome = this.deliver(piece);
    if (outcome === PENDING) {
      this.#paused = true;
      this.#pinned = buffer;
      this.#pinnedLength = length;
      return true;
    }
    if (outcome === FAILED) this.discardInput();
    this.consume(length);
    return false;
  }

  /** Bytes were taken: tell the peer once it pays (RFC 9113 §6.9), and not when it has nothing more to send. */
  consume(length: number): void {
    if (this.remoteClosed || this.gone) return;
    this.#credit += length;
    if (this.#credit * 2 < this.receiveLimit) return;
    // A peer that fills its window while we keep up is slowed by the window alone: give it a larger one.
    const growth = this.#heldLength === 0 ? this.host.growth(this) : 0;
    const increment = this.#credit + growth;
    this.receiveLimit += growth;
    this.receiveWindow += increment;
    this.#credit = 0;
    this.host.writer.windowUpdate(this.id, increment);
  }

  protected end(code: number): void {
    if (!this.gone) this.host.reset(this, code);
  }
}
