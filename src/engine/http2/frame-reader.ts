import { DATA, FLAG_END_STREAM, FLAG_PADDED, FRAME_HEADER_LENGTH, MAX_FRAME_LENGTH } from './frame.js';

/** What hears the frames of one connection, in order. */
export interface FrameSink {
  /** True once no more frames are wanted: the rest of the input is dropped. */
  readonly stopped: boolean;
  /** A frame's payload is longer than we allow, or its padding longer than its payload. */
  onBadFrame(code: 'size' | 'padding'): void;
  /**
   * A DATA frame begins. `length` is what flow control counts (RFC 9113 §6.9.1), `overhead` the part of it that is
   * padding. False: its payload is of no interest.
   */
  onDataBegin(id: number, length: number, overhead: number): boolean;
  /** A part of the payload, perhaps empty; `last` when the frame ends here and has END_STREAM. */
  onData(buffer: Buffer, start: number, end: number, last: boolean): void;
  /** Any other frame, whole: its payload is `[start, end)`. */
  onFrame(type: number, flags: number, id: number, payload: Payload): void;
}

/** A view that is filled again for each frame. */
export interface Payload {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

class PayloadView implements Payload {
  buffer: Buffer = NONE;
  start = 0;
  end = 0;
}

const NONE: Buffer = Buffer.alloc(0);

/**
 * Cuts a connection's bytes into frames (RFC 9113 §4.1). DATA is handed on as it comes; of other frames a part is
 * kept until the whole is there, so at most 16 KiB are held.
 */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #payload = new PayloadView();
  /** The beginning of a frame whose end has not come; `#held.length` is what is known to be needed. */
  #held = NONE;
  #heldLength = 0;
  // The DATA frame that is being read.
  #inData = false;
  #wanted = false;
  #id = 0;
  #left = 0;
  #padding = 0;
  #needsPadLength = false;
  #endsStream = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** The beginning of a frame is held whose end has not come; a DATA frame's payload is not held. */
  get holdsPart(): boolean {
    return this.#heldLength > 0;
  }

  read(buffer: Buffer, start: number, end: number): void {
    let at = start;
    while (!this.#sink.stopped) {
      if (this.#inData) {
        at = this.#readData(buffer, at, end);
        if (at === end) return;
        continue;
      }
      if (at === end) return;
      if (this.#heldLength > 0) {
        at = this.#fillHeld(buffer, at, end);
        continue;
      }
      const available = end - at;
      if (available < FRAME_HEADER_LENGTH) {
        this.#hold(buffer, at, end, FRAME_HEADER_LENGTH);
        return;
      }
      const length = lengthAt(buffer, at);
      if (length > MAX_FRAME_LENGTH) {
        this.#sink.onBadFrame('size');
        return;
      }
      if (buffer[at + 3] === DATA) {
        this.#beginData(buffer, at, length);
        at += FRAME_HEADER_LENGTH;
      } else if (available < FRAME_HEADER_LENGTH + length) {
        this.#hold(buffer, at, end, FRAME_HEADER_LENGTH + length);
        return;
      } else {
        this.#emit(buffer, at, length);
        at += FRAME_HEADER_LENGTH + length;
      }
    }
  }

  #hold(buffer: Buffer, start: number, end: number, needed: number): void {
    this.#held = Buffer.allocUnsafe(needed);
    this.#heldLength = buffer.copy(this.#held, 0, start, end);
  }

  #fillHeld(buffer: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#heldLength < this.#held.length) {
      const taken = buffer.copy(this.#held, this.#heldLength, at, end);
      this.#heldLength += taken;
      at += taken;
      if (this.#heldLength < this.#held.length) return at;
    }
    const held = this.#held;
    const length = lengthAt(held, 0);
    if (length > MAX_FRAME_LENGTH) {
      this.#sink.onBadFrame('size');
      return at;
    }
    const isData = held[3] === DATA;
    if (!isData && held.length < FRAME_HEADER_LENGTH + length) {
      this.#hold(held, 0, this.#heldLength, FRAME_HEADER_LENGTH + length);
      return at;
    }
    this.#held = NONE;
    this.#heldLength = 0;
    if (isData) this.#beginData(held, 0, length);
    else this.#emit(held, 0, length);
    return at;
  }

  #emit(buffer: Buffer, at: number, length: number): void {
    const payload = this.#payload;
    payload.buffer = buffer;
    payload.start = at + FRAME_HEADER_LENGTH;
    payload.end = payload.start + length;
    this.#sink.onFrame(buffer[at + 3] ?? 0, buffer[at + 4] ?? 0, idAt(buffer, at), payload);
  }

  #beginData(buffer: Buffer, at: number, length: number): void {
    const flags = buffer[at + 4] ?? 0;
    this.#inData = true;
    this.#left = length;
    this.#padding = 0;
    this.#needsPadLength = (flags & FLAG_PADDED) !== 0;
    this.#endsStream = (flags & FLAG_END_STREAM) !== 0;
    this.#id = idAt(buffer, at);
    if (!this.#needsPadLength) this.#wanted = this.#sink.onDataBegin(this.#id, length, 0);
    else if (length === 0) this.#sink.onBadFrame('size');
  }

  #readData(buffer: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#needsPadLength) {
      if (at === end) return at;
      this.#padding = buffer[at++] ?? 0;
      this.#left--;
      this.#needsPadLength = false;
      // RFC 9113 §6.1: padding as long as the payload or longer is an error of the connection.
      if (this.#padding > this.#left) {
        this.#sink.onBadFrame('padding');
        return at;
      }
      this.#wanted = this.#sink.onDataBegin(this.#id, this.#left + 1, this.#padding + 1);
      if (this.#sink.stopped) return at;
    }
    const taken = Math.min(this.#left, end - at);
    const payload = Math.max(0, Math.min(taken, this.#left - this.#padding));
    // A zero-length read in the middle of a frame is no news.
    const isWhole = taken === this.#left;
    this.#left -= taken;
    if (isWhole) this.#inData = false;
    if (this.#wanted && (payload > 0 || isWhole)) {
      this.#sink.onData(buffer, at, at + payload, isWhole && this.#endsStream);
    }
    return at + taken;
  }
}

function lengthAt(buffer: Buffer, at: number): number {
  return ((buffer[at] ?? 0) << 16) | ((buffer[at + 1] ?? 0) << 8) | (buffer[at + 2] ?? 0);
}

/** The reserved bit is ignored (RFC 9113 §4.1). */
function idAt(buffer: Buffer, at: number): number {
  return (
    (((buffer[at + 5] ?? 0) & 0x7f) << 24) |
    ((buffer[at + 6] ?? 0) << 16) |
    ((buffer[at + 7] ?? 0) << 8) |
    (buffer[at + 8] ?? 0)
  );
}
