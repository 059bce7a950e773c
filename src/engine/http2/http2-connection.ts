/**
 * One HTTP/2 connection (RFC 9113), what both ends have in common: frames, settings, flow control, errors, floods.
 *
 * In: bytes of a {@link Connection}. Out: header blocks, body pieces and resets to streams; frames to the writer. It
 * must not know requests or responses: {@link DownstreamConnection} and {@link UpstreamConnection} do.
 *
 * Bounds: a header block is at most 64 KiB, also as a field list; received bytes that nobody took at most 8 MiB, which
 * is the sum of the receive windows; output one buffer of 64 KiB and the answers to control frames, at most 1 MiB.
 */
import type { Connection } from '../wire/wire.js';
import { Allowance } from './allowance.js';
import { ClosedStreams, ENDED, RESET_BY_PEER, RESET_BY_US } from './closed-streams.js';
import {
  COMPRESSION_ERROR,
  CONTINUATION,
  DATA,
  DEFAULT_WINDOW,
  ENHANCE_YOUR_CALM,
  FLAG_ACK,
  FLOW_CONTROL_ERROR,
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
  STREAM_CLOSED,
  WINDOW_UPDATE,
} from './frame.js';
import { formError } from './frame-form.js';
import { FrameReader, type FrameSink, type Payload } from './frame-reader.js';
import { dependencyAt, HeaderAssembler, MAX_HEADER_LENGTH } from './header-assembler.js';
import { HeaderBlocks, type HeaderBlock } from './header-block.js';
import { HeaderEncoder } from './hpack/header-encoder.js';
import { Http2Link } from './http2-link.js';
import type { Http2Stream, StreamHost } from './http2-stream.js';
import { inboundGather } from './inbound-gather.js';
import { SendTurns } from './send-turns.js';
import { PeerSettings } from './settings.js';
import { StreamTable } from './stream-table.js';

/** Receive window of the connection: never what holds a stream back. */
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/** What all receive windows may grow together beyond their initial size, and one stream's alone. */
const GROWTH = 1_835_008;
const MAX_STREAM_WINDOW = 1_048_576;

export abstract class Http2Connection<S extends Http2Stream, T>
  extends Http2Link
  implements FrameSink, StreamHost
{
  readonly encoder = new HeaderEncoder();
  readonly streams = new StreamTable<S>();
  readonly peer = new PeerSettings();
  sendWindow = DEFAULT_WINDOW;
  /** The peer has sent GOAWAY. */
  goneAway = false;
  /** Bytes of DATA sent so far: whether a peer that is waited for makes progress. */
  sentBytes = 0;

  readonly #reader: FrameReader;
  readonly #blocks: HeaderBlocks<T>;
  readonly #isServer: boolean;
  #closedStreams: ClosedStreams | undefined;
  #settingsReceived = false;

  readonly #header = new HeaderAssembler();

  // Receiving DATA.
  #receiveWindow = CONNECTION_WINDOW;
  #credit = 0;
  #grown = 0;
  #dataStream: S | undefined;
  #gathering: S | undefined;
  #overhead = 0;

  readonly #turns = new SendTurns();
  readonly #mayGo = (): boolean => this.sendWindow > 0 && this.writer.dataRoom() > 0;

  /** Streams reset before they ended, by the peer or by its fault (CVE-2023-44487, CVE-2025-8671). */
  readonly #resets = new Allowance(1000, 100);

  constructor(wire: Connection, isServer: boolean, connected: boolean) {
    super(wire, connected);
    this.#isServer = isServer;
    this.#reader = new FrameReader(this);
    this.#blocks = new HeaderBlocks(MAX_HEADER_LENGTH);
  }

  /** A block for a stream: a request, a response or trailers. */
  protected abstract onHeaders(id: number, block: HeaderBlock<T>, ends: boolean): void;
  /** The peer, or we, never used this stream. */
  protected abstract isIdle(id: number): boolean;
  /** A stream's turn to take what was gathered. @returns true when the buffer was given away. */
  protected abstract takeGathered(stream: S, last: boolean): boolean;
  protected abstract onGoAway(lastStreamId: number): void;
  /** The peer's settings have changed. */
  protected abstract onSettings(): void;
  /** A stream left {@link streams}. */
  protected abstract onStreamClosed(): void;

  get maxFrame(): number {
    return this.peer.maxFrame;
  }

  /** A message head is being received, or nothing was yet. */
  get awaitsHead(): boolean {
    return !this.#settingsReceived || this.#header.stream !== 0 || this.#reader.holdsPart;
  }

  /** DATA waits for the peer. */
  get hasBacklog(): boolean {
    if (!this.writer.idle) return true;
    for (const stream of this.streams.values()) if (stream.hasOutput) return true;
    return false;
  }

  /** Our preface: settings and the connection's window (RFC 9113 §3.4). */
  protected sendPreface(settings: readonly number[]): void {
    this.writer.settings(settings);
    this.writer.windowUpdate(0, CONNECTION_WINDOW - DEFAULT_WINDOW);
  }

  protected override onInput(buffer: Buffer, start: number, end: number): void {
    this.#reader.read(buffer, start, end);
    this.flushGathered();
  }

  protected override onWritable(): void {
    this.#turns.run(this.#mayGo);
  }

  protected override onEnded(detail: string): void {
    this.#dropGathered();
    this.#dataStream = undefined;
    for (const stream of this.streams.values()) {
      this.streams.delete(stream.id);
      stream.gone = true;
      stream.onLost(detail, 'ended');
    }
  }

  /** RFC 9113 §5.4.2: RST_STREAM; the peer's fault. */
  protected failStream(id: number, code: number, detail: string): void {
    const stream = this.streams.get(id);
    if (stream) {
      this.reset(stream, code);
      stream.onLost(detail, 'fault');
    } else this.refuse(id, code);
    // CVE-2025-8671: a peer can make us reset as well as reset itself.
    if (!this.#resets.spend()) this.fail(ENHANCE_YOUR_CALM, 'too many streams were reset');
  }

  /** Resets a stream that never was, or is not any more. */
  protected refuse(id: number, code: number): void {
    this.writer.resetStream(id, code);
    this.#remember(id, RESET_BY_US);
  }

  // ---- what streams ask for

  reset(stream: Http2Stream, code: number): void {
    stream.gone = true;
    this.writer.resetStream(stream.id, code);
    this.#remember(stream.id, RESET_BY_US);
    this.#remove(stream.id);
  }

  forget(stream: Http2Stream): void {
    this.#resets.earn(1);
    this.#remove(stream.id);
    stream.onForgotten();
  }

  enqueue(stream: Http2Stream): void {
    this.#turns.add(stream);
  }

  onDataSent(length: number, completes: boolean): void {
    this.sentBytes += length + 1;
    // A peer that opens its window by single bytes earns nothing (CVE-2019-9511).
    if (completes || length >= 512) this.control.earn(3);
  }

  growth(stream: Http2Stream): number {
    const growth = Math.min(
      stream.receiveLimit,
      MAX_STREAM_WINDOW - stream.receiveLimit,
      GROWTH - this.#grown,
    );
    if (growth <= 0) return 0;
    this.#grown += growth;
    return growth;
  }

  #remove(id: number): void {
    const stream = this.streams.delete(id);
    if (!stream) return;
    this.#grown -= stream.receiveLimit - DEFAULT_WINDOW;
    this.onStreamClosed();
  }

  #remember(id: number, how: typeof RESET_BY_PEER | typeof RESET_BY_US): void {
    (this.#closedStreams ??= new ClosedStreams()).add(id, how);
  }

  // ---- DATA

  onBadFrame(code: 'size' | 'padding'): void {
    // RFC 9113 §4.2 lets some be errors of the stream; a peer that ignores our limit is not worth the difference.
    if (code === 'size') this.fail(FRAME_SIZE_ERROR, 'frame of a wrong size');
    else this.fail(PROTOCOL_ERROR, 'padding longer than its frame');
  }

  onDataBegin(id: number, length: number, overhead: number): boolean {
    this.#dataStream = undefined;
    if (!this.#mayBegin(DATA, id)) return false;
    if (id === 0) {
      this.fail(PROTOCOL_ERROR, 'DATA on stream 0');
      return false;
    }
    // RFC 9113 §6.9: DATA counts for the connection whatever becomes of the stream.
    this.#receiveWindow -= length;
    if (this.#receiveWindow < 0) {
      this.fail(FLOW_CONTROL_ERROR, 'more DATA than the connection window allows');
      return false;
    }
    this.#credit += length;
    if (this.#credit * 2 >= CONNECTION_WINDOW) {
      this.writer.windowUpdate(0, this.#credit);
      this.#receiveWindow += this.#credit;
      this.#credit = 0;
    }
    const stream = this.streams.get(id);
    if (stream === undefined || stream.remoteClosed) {
      this.#onStrayFrame(id, stream, 'DATA');
      return false;
    }
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) {
      this.failStream(id, FLOW_CONTROL_ERROR, 'more DATA than the stream window allows');
      return false;
    }
    if (length > overhead) this.control.earn(1);
    else if (!this.spendControl()) return false;
    this.#overhead = overhead;
    this.#dataStream = stream;
    return true;
  }

  onData(buffer: Buffer, start: number, end: number, last: boolean): void {
    const stream = this.#dataStream;
    if (stream === undefined) return;
    if (stream.gone) return;
    if (this.#overhead > 0) {
      stream.consume(this.#overhead);
      this.#overhead = 0;
    }
    if (!stream.countReceived(end - start)) {
      this.failStream(stream.id, PROTOCOL_ERROR, 'body longer than its content-length');
      return;
    }
    if (this.#gathering !== stream) this.#gather(stream);
    for (let at = start; at < end;) {
      const taken = inboundGather.append(buffer, at, end);
      at += taken;
      if (taken === 0) {
        this.flushGathered();
        this.#gathering = stream;
      }
    }
    if (!last) return;
    if (stream.endRemote()) this.flushGathered();
    else this.failStream(stream.id, PROTOCOL_ERROR, 'body shorter than its content-length');
  }

  /** What is received next is this stream's. */
  #gather(stream: S): void {
    this.flushGathered();
    this.#gathering = stream;
  }

  /** A head was received: it goes on with the body's first part, if that is here already. */
  protected gatherFor(stream: S): void {
    this.#gather(stream);
  }

  protected flushGathered(): void {
    const stream = this.#gathering;
    if (stream === undefined) return;
    this.#gathering = undefined;
    if (this.takeGathered(stream, stream.remoteClosed)) inboundGather.giveAway();
  }

  /** Nobody wants what was gathered; the next stream, of any connection, must not find it. */
  #dropGathered(): void {
    if (this.#gathering === undefined) return;
    this.#gathering = undefined;
    inboundGather.clear();
  }

  // ---- frames

  /** RFC 9113 §3.4 and §6.10: settings come first, and a header block is not interrupted. */
  #mayBegin(type: number, id: number): boolean {
    if (this.#header.stream !== 0 && (type !== CONTINUATION || id !== this.#header.stream)) {
      this.fail(PROTOCOL_ERROR, 'a header block was interrupted');
      return false;
    }
    if (!this.#settingsReceived && type !== SETTINGS) {
      this.fail(PROTOCOL_ERROR, 'the first frame is not SETTINGS');
      return false;
    }
    return true;
  }

  onFrame(type: number, flags: number, id: number, payload: Payload): void {
    if (!this.#mayBegin(type, id)) return;
    const error = formError(type, flags, id, payload.end - payload.start);
    if (error !== NO_ERROR) {
      this.fail(error, `frame of type ${type} with a wrong size or stream`);
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
        this.#onResetFrame(id, payload.buffer.readUInt32BE(payload.start));
        return;
      case WINDOW_UPDATE:
        this.#onWindowUpdate(id, payload.buffer.readUInt32BE(payload.start) & MAX_WINDOW);
        return;
      case SETTINGS:
        if ((flags & FLAG_ACK) === 0) this.#onSettingsFrame(payload);
        else if (!this.#settingsReceived) this.fail(PROTOCOL_ERROR, 'the first frame is not SETTINGS');
        return;
      case PING:
        if (flags & FLAG_ACK) this.onPingAck();
        else if (this.spendControl()) this.writer.ping(payload.buffer, payload.start, true);
        return;
      case GOAWAY:
        this.goneAway = true;
        this.onGoAway(payload.buffer.readUInt32BE(payload.start) & MAX_WINDOW);
        return;
      case PRIORITY:
        this.#onPriority(id, payload);
        return;
      case PUSH_PROMISE:
        this.fail(PROTOCOL_ERROR, 'PUSH_PROMISE where push is not enabled');
        return;
      default:
        // RFC 9113 §4.1: unknown types are ignored.
        this.spendControl();
    }
  }

  #onHeaderFrame(id: number, error: number): void {
    const header = this.#header;
    if (error !== NO_ERROR) this.fail(error, 'header block that is too long or malformed');
    if (this.stopped || !header.complete) return;
    // Every block is decoded, whatever becomes of its stream: the dynamic table is the connection's.
    const block = this.#blocks.decode(header.buffer, header.start, header.end);
    if (block === undefined) {
      this.fail(COMPRESSION_ERROR, 'header block that cannot be decoded');
      return;
    }
    if (header.selfDependent) {
      this.failStream(id, PROTOCOL_ERROR, 'a stream that depends on itself');
      if (this.#isServer && id > this.lastStreamId) this.lastStreamId = id;
      return;
    }
    const stream = this.streams.get(id);
    if (stream?.remoteClosed || (stream === undefined && !this.isIdle(id))) {
      this.#onStrayFrame(id, stream, 'HEADERS');
      return;
    }
    if (stream !== undefined && this.#gathering === stream) {
      this.flushGathered();
      if (stream.gone) return;
    }
    this.onHeaders(id, block, header.endsStream);
    this.control.earn(2);
  }

  /** RFC 9113 §5.1: DATA or HEADERS on a stream that is not open to the peer. */
  #onStrayFrame(id: number, stream: S | undefined, what: string): void {
    if (stream) {
      this.failStream(id, STREAM_CLOSED, `${what} after END_STREAM`);
      return;
    }
    if (this.isIdle(id)) {
      this.fail(PROTOCOL_ERROR, `${what} on an idle stream`);
      return;
    }
    const how = this.#closedStreams?.find(id) ?? ENDED;
    if (how === RESET_BY_US) this.spendControl();
    else if (how === RESET_BY_PEER) this.failStream(id, STREAM_CLOSED, `${what} after RST_STREAM`);
    else this.fail(STREAM_CLOSED, `${what} on a closed stream`);
  }

  #onResetFrame(id: number, code: number): void {
    if (this.isIdle(id)) {
      this.fail(PROTOCOL_ERROR, 'RST_STREAM on an idle stream');
      return;
    }
    const stream = this.streams.get(id);
    if (!stream) {
      this.spendControl();
      return;
    }
    if (this.#gathering === stream) {
      // A response may be complete but for its last, empty frame: what came before the reset counts.
      if (this.#isServer) this.#dropGathered();
      else this.flushGathered();
    }
    stream.gone = true;
    this.#remember(id, RESET_BY_PEER);
    this.#remove(id);
    stream.onPeerReset(code);
    if (!this.#resets.spend()) this.fail(ENHANCE_YOUR_CALM, 'too many streams were reset');
  }

  #onWindowUpdate(id: number, increment: number): void {
    if (!this.spendControl()) return;
    if (id === 0) {
      if (increment === 0) this.fail(PROTOCOL_ERROR, 'WINDOW_UPDATE of 0');
      else if (this.sendWindow + increment > MAX_WINDOW) this.fail(FLOW_CONTROL_ERROR, 'window too large');
      else {
        this.sendWindow += increment;
        this.onWritable();
      }
      return;
    }
    if (this.isIdle(id)) {
      this.fail(PROTOCOL_ERROR, 'WINDOW_UPDATE on an idle stream');
      return;
    }
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (increment === 0) this.failStream(id, PROTOCOL_ERROR, 'WINDOW_UPDATE of 0');
    else if (!stream.moveSendWindow(increment)) this.failStream(id, FLOW_CONTROL_ERROR, 'window too large');
    else this.onWritable();
  }

  #onSettingsFrame({ buffer, start, end }: Payload): void {
    if (!this.spendControl()) return;
    const windowBefore = this.peer.initialWindow;
    for (let at = start; at < end; at += 6) {
      const error = this.peer.apply(buffer.readUInt16BE(at), buffer.readUInt32BE(at + 2), !this.#isServer);
      if (error !== NO_ERROR) {
        this.fail(error, 'SETTINGS with a wrong value');
        return;
      }
    }
    this.#settingsReceived = true;
    this.encoder.limitTable(this.peer.headerTableSize);
    this.writer.acknowledgeSettings();
    const delta = this.peer.initialWindow - windowBefore;
    if (delta !== 0) this.#moveWindows(delta);
    this.onSettings();
    this.onWritable();
  }

  /** RFC 9113 §6.9.2: windows of open streams move along and may become negative. */
  #moveWindows(delta: number): void {
    for (const stream of this.streams.values()) {
      if (!stream.moveSendWindow(delta)) {
        this.fail(FLOW_CONTROL_ERROR, 'window too large');
        return;
      }
    }
  }

  /** Ignored but for its form (RFC 9113 §5.3.2; RFC 7540 §5.3.1 for the dependency on itself). */
  #onPriority(id: number, { buffer, start, end }: Payload): void {
    if (end - start !== 5) this.failStream(id, FRAME_SIZE_ERROR, 'PRIORITY of a wrong size');
    else if (dependencyAt(buffer, start) === id)
      this.failStream(id, PROTOCOL_ERROR, 'a stream that depends on itself');
    else this.spendControl();
  }
}
