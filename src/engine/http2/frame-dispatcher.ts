import {
  COMPRESSION_ERROR,
  CONTINUATION,
  DATA,
  FLAG_ACK,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADERS,
  MAX_WINDOW,
  NO_ERROR,
  PING,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './frame.js';
import { formError } from './frame-form.js';
import { FrameReader, type FrameSink, type Payload } from './frame-reader.js';
import { dependencyAt, HeaderAssembler, MAX_HEADER_LENGTH } from './header-assembler.js';
import { HeaderBlocks, type HeaderBlock } from './header-block.js';

/** What hears the frames of a connection by what they mean: well-formed, and only where they may come. */
export interface FrameListener<T> {
  /** True once no more frames are wanted: the rest of the input is dropped. */
  readonly stopped: boolean;
  /** As {@link FrameSink.onDataBegin}; never stream 0. */
  onDataBegin(id: number, length: number, overhead: number): boolean;
  onData(buffer: Buffer, start: number, end: number, last: boolean): void;
  /** A whole header block. `form` is what the frames said of it: valid during the call. */
  onHeaderBlock(id: number, block: HeaderBlock<T>, form: HeaderForm): void;
  onResetFrame(id: number, code: number): void;
  /** `id` 0: the connection's window. */
  onWindowUpdate(id: number, increment: number): void;
  onSettingsFrame(payload: Payload): void;
  /** The payload is to be sent back. */
  onPing(payload: Payload): void;
  onPingAck(): void;
  onGoAway(lastStreamId: number): void;
  /** A frame that is ignored. */
  onIdleFrame(): void;
  onStreamError(id: number, code: number, detail: string): void;
  onConnectionError(code: number, detail: string): void;
}

export interface HeaderForm {
  readonly endsStream: boolean;
  /** The stream depends on itself: an error of the stream (RFC 7540 §5.3.1). */
  readonly selfDependent: boolean;
}

/**
 * Tells a connection what the frames mean that its peer sends. Here is what can be known without knowing streams: the
 * order and the form of frames, and header blocks, which are put together and decoded.
 */
export class FrameDispatcher<T> implements FrameSink {
  readonly #listener: FrameListener<T>;
  readonly #reader: FrameReader;
  readonly #header = new HeaderAssembler();
  readonly #blocks = new HeaderBlocks<T>(MAX_HEADER_LENGTH);
  #settingsReceived = false;

  constructor(listener: FrameListener<T>) {
    this.#listener = listener;
    this.#reader = new FrameReader(this);
  }

  get stopped(): boolean {
    return this.#listener.stopped;
  }

  /** A message head is being received, or nothing was yet. */
  get awaitsHead(): boolean {
    return !this.#settingsReceived || this.#header.stream !== 0 || this.#reader.holdsPart;
  }

  read(buffer: Buffer, start: number, end: number): void {
    this.#reader.read(buffer, start, end);
  }

  onBadFrame(code: 'size' | 'padding'): void {
    // RFC 9113 §4.2 lets some be errors of the stream; a peer that ignores our limit is not worth the difference.
    if (code === 'size') this.#fail(FRAME_SIZE_ERROR, 'frame of a wrong size');
    else this.#fail(PROTOCOL_ERROR, 'padding longer than its frame');
  }

  onDataBegin(id: number, length: number, overhead: number): boolean {
    if (!this.#mayBegin(DATA, id)) return false;
    if (id === 0) {
      this.#fail(PROTOCOL_ERROR, 'DATA on stream 0');
      return false;
    }
    return this.#listener.onDataBegin(id, length, overhead);
  }

  onData(buffer: Buffer, start: number, end: number, last: boolean): void {
    this.#listener.onData(buffer, start, end, last);
  }

  onFrame(type: number, flags: number, id: number, payload: Payload): void {
    if (!this.#mayBegin(type, id)) return;
    const error = formError(type, flags, id, payload.end - payload.start);
    if (error !== NO_ERROR) {
      this.#fail(error, `frame of type ${type} with a wrong size or stream`);
      return;
    }
    switch (type) {
      case HEADERS:
        this.#onHeaderFrame(id, this.#header.begin(flags, id, payload));
        return;
      case CONTINUATION:
        this.#onHeaderFrame(id, this.#header.go(flags, payload));
        return;
      case RST_STREAM:
        this.#listener.onResetFrame(id, numberAt(payload));
        return;
      case WINDOW_UPDATE:
        this.#listener.onWindowUpdate(id, numberAt(payload) & MAX_WINDOW);
        return;
      case SETTINGS:
        this.#onSettings(flags, payload);
        return;
      case PING:
        if (flags & FLAG_ACK) this.#listener.onPingAck();
        else this.#listener.onPing(payload);
        return;
      case GOAWAY:
        this.#listener.onGoAway(numberAt(payload) & MAX_WINDOW);
        return;
      case PRIORITY:
        this.#onPriority(id, payload);
        return;
      case PUSH_PROMISE:
        this.#fail(PROTOCOL_ERROR, 'PUSH_PROMISE where push is not enabled');
        return;
      default:
        // RFC 9113 §4.1: unknown types are ignored.
        this.#listener.onIdleFrame();
    }
  }

  /** RFC 9113 §3.4 and §6.10: settings come first, and a header block is not interrupted. */
  #mayBegin(type: number, id: number): boolean {
    if (this.#header.stream !== 0 && (type !== CONTINUATION || id !== this.#header.stream)) {
      this.#fail(PROTOCOL_ERROR, 'a header block was interrupted');
      return false;
    }
    if (!this.#settingsReceived && type !== SETTINGS) {
      this.#fail(PROTOCOL_ERROR, 'the first frame is not SETTINGS');
      return false;
    }
    return true;
  }

  #onHeaderFrame(id: number, error: number): void {
    const header = this.#header;
    if (error !== NO_ERROR) {
      this.#fail(error, 'header block that is too long or malformed');
      return;
    }
    if (!header.complete) return;
    // Every block is decoded, whatever becomes of its stream: the dynamic table is the connection's.
    const block = this.#blocks.decode(header.buffer, header.start, header.end);
    if (block === undefined) this.#fail(COMPRESSION_ERROR, 'header block that cannot be decoded');
    else this.#listener.onHeaderBlock(id, block, header);
  }

  #onSettings(flags: number, payload: Payload): void {
    if ((flags & FLAG_ACK) === 0) {
      this.#listener.onSettingsFrame(payload);
      this.#settingsReceived ||= !this.stopped;
    } else if (!this.#settingsReceived) this.#fail(PROTOCOL_ERROR, 'the first frame is not SETTINGS');
  }

  /** Ignored but for its form (RFC 9113 §5.3.2; RFC 7540 §5.3.1 for the dependency on itself). */
  #onPriority(id: number, payload: Payload): void {
    const listener = this.#listener;
    if (payload.end - payload.start !== 5)
      listener.onStreamError(id, FRAME_SIZE_ERROR, 'PRIORITY of a wrong size');
    else if (dependencyAt(payload.buffer, payload.start) === id)
      listener.onStreamError(id, PROTOCOL_ERROR, 'a stream that depends on itself');
    else listener.onIdleFrame();
  }

  #fail(code: number, detail: string): void {
    this.#listener.onConnectionError(code, detail);
  }
}

function numberAt({ buffer, start }: Payload): number {
  return buffer.readUInt32BE(start);
}
