import { PENDING, WRITTEN, type Connection } from '../wire/wire.js';
import { bufferPool, POOLED_LENGTH } from './buffer-pool.js';
import { atTurnEnd, type TurnEndTask } from '../wire/turn-end.js';
import {
  CONTINUATION,
  DATA,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FRAME_HEADER_LENGTH,
  GOAWAY,
  HEADERS,
  MAX_FRAME_LENGTH,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './frame.js';

/** A peer that makes us answer and does not read the answers is given up at this many bytes. */
const MAX_QUEUED = 1_048_576;
const NONE: Buffer = Buffer.alloc(0);

/**
 * The output of one connection: frames are appended to one buffer that is written once per turn of the event loop.
 *
 * Ownership: the buffer is borrowed from the pool by the first frame. A write that is `WRITTEN` gives it back; one
 * that is `PENDING` leaves it with the wire until `onDrain`. DATA is only taken while nothing is pending, so that a
 * slow reader holds one buffer and not one for each stream.
 */
export class FrameWriter implements TurnEndTask {
  /** The peer, or the wire, can no longer be served: nothing is sent any more. */
  failed = false;
  /** Frames are kept but not written yet (the connection is being made). */
  corked: boolean;

  readonly #wire: Connection;
  #buffer = NONE;
  #length = 0;
  #pending = NONE;
  #scheduled = false;

  constructor(wire: Connection, corked: boolean) {
    this.#wire = wire;
    this.corked = corked;
  }

  /** Nothing waits to be written or to be taken by the wire. */
  get idle(): boolean {
    return this.#length === 0 && this.#pending === NONE;
  }

  /** Bytes of payload that one DATA frame may have now; 0 means wait for `onDrain`. */
  dataRoom(): number {
    if (this.failed || this.#pending !== NONE) return 0;
    let room = POOLED_LENGTH - FRAME_HEADER_LENGTH - this.#length;
    if (room < 1024 && !this.corked) {
      this.#write();
      room = this.#pending === NONE ? POOLED_LENGTH - FRAME_HEADER_LENGTH - this.#length : 0;
    }
    return room > 0 ? room : 0;
  }

  /** The head of a DATA frame; {@link payload} follows with `length` bytes, `dataRoom()` at most. */
  data(id: number, length: number, last: boolean): void {
    this.#frame(length, DATA, last ? FLAG_END_STREAM : 0, id);
  }

  payload(source: Buffer, start: number, end: number): void {
    if (!this.failed) this.#length += source.copy(this.#buffer, this.#length, start, end);
  }

  /** A header block of any length, cut into HEADERS and CONTINUATION. */
  headers(id: number, block: Buffer, length: number, last: boolean): void {
    let flags = last ? FLAG_END_STREAM : 0;
    let type = HEADERS;
    let at = 0;
    do {
      const end = Math.min(length, at + MAX_FRAME_LENGTH);
      if (end === length) flags |= FLAG_END_HEADERS;
      if (!this.#frame(end - at, type, flags, id)) return;
      block.copy(this.#buffer, this.#length, at, end);
      this.#length += end - at;
      at = end;
      type = CONTINUATION;
      flags = 0;
    } while (at < length);
  }

  /** @param settings identifiers and values by turns. */
  settings(settings: readonly number[]): void {
    if (!this.#frame(settings.length * 3, SETTINGS, 0, 0)) return;
    for (let i = 0; i + 1 < settings.length; i += 2) {
      this.#length = this.#buffer.writeUInt16BE(settings[i] ?? 0, this.#length);
      this.#length = this.#buffer.writeUInt32BE(settings[i + 1] ?? 0, this.#length);
    }
  }

  acknowledgeSettings(): void {
    this.#frame(0, SETTINGS, FLAG_ACK, 0);
  }

  /** @param source holds the 8 bytes at `offset`. */
  ping(source: Buffer, offset: number, acknowledges: boolean): void {
    if (!this.#frame(8, PING, acknowledges ? FLAG_ACK : 0, 0)) return;
    source.copy(this.#buffer, this.#length, offset, offset + 8);
    this.#length += 8;
  }

  resetStream(id: number, code: number): void {
    if (this.#frame(4, RST_STREAM, 0, id)) this.#uint32(code);
  }

  windowUpdate(id: number, increment: number): void {
    if (this.#frame(4, WINDOW_UPDATE, 0, id)) this.#uint32(increment);
  }

  goAway(lastStreamId: number, code: number): void {
    if (!this.#frame(8, GOAWAY, 0, 0)) return;
    this.#uint32(lastStreamId);
    this.#uint32(code);
  }

  bytes(bytes: Buffer): void {
    if (!this.#reserve(bytes.length)) return;
    this.#length += bytes.copy(this.#buffer, this.#length);
  }

  atTurnEnd(): void {
    this.flush();
  }

  flush(): void {
    this.#scheduled = false;
    this.#write();
  }

  #write(): void {
    if (this.#length === 0 || this.corked || this.failed || this.#pending !== NONE) return;
    const buffer = this.#buffer;
    const outcome = this.#wire.write(buffer.subarray(0, this.#length));
    this.#length = 0;
    this.#buffer = NONE;
    if (outcome === WRITTEN) bufferPool.release(buffer);
    else if (outcome === PENDING) this.#pending = buffer;
    else this.failed = true;
  }

  /** The wire has taken what was `PENDING`. */
  onDrain(): void {
    if (this.#pending !== NONE) bufferPool.release(this.#pending);
    this.#pending = NONE;
    this.#write();
  }

  /** The connection is closed: nothing is with the wire any more. */
  onClose(): void {
    this.failed = true;
    if (this.#pending !== NONE) bufferPool.release(this.#pending);
    if (this.#buffer !== NONE) bufferPool.release(this.#buffer);
    this.#pending = NONE;
    this.#buffer = NONE;
    this.#length = 0;
  }

  #frame(length: number, type: number, flags: number, id: number): boolean {
    if (!this.#reserve(FRAME_HEADER_LENGTH + length)) return false;
    const buffer = this.#buffer;
    let at = this.#length;
    buffer[at++] = length >>> 16;
    buffer[at++] = length >>> 8;
    buffer[at++] = length;
    buffer[at++] = type;
    buffer[at++] = flags;
    buffer[at++] = id >>> 24;
    buffer[at++] = id >>> 16;
    buffer[at++] = id >>> 8;
    buffer[at++] = id;
    this.#length = at;
    return true;
  }

  #uint32(value: number): void {
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  /** Makes room and sees to it that the turn's end writes it. */
  #reserve(length: number): boolean {
    if (this.failed) return false;
    if (!this.#scheduled) {
      this.#scheduled = true;
      atTurnEnd(this);
    }
    if (this.#buffer === NONE) this.#buffer = bufferPool.take();
    if (this.#length + length <= this.#buffer.length) return true;
    if (this.#pending === NONE && !this.corked) {
      this.#write();
      return this.#reserve(length);
    }
    if (this.#length + length > MAX_QUEUED) {
      this.failed = true;
      return false;
    }
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    bufferPool.release(this.#buffer);
    this.#buffer = larger;
    return true;
  }
}
