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
import { DataReceiver, type DataReceiverHost } from './data-receiver.js';
import {
  DEFAULT_WINDOW,
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  MAX_WINDOW,
  NO_ERROR,
  PROTOCOL_ERROR,
  STREAM_CLOSED,
} from './frame.js';
import { FrameDispatcher, type FrameListener, type HeaderForm } from './frame-dispatcher.js';
import type { Payload } from './frame-reader.js';
import type { HeaderBlock } from './header-block.js';
import { HeaderEncoder } from './hpack/header-encoder.js';
import { Http2Link } from './http2-link.js';
import type { Http2Stream, StreamHost } from './http2-stream.js';
import { ReceiveFlow } from './receive-flow.js';
import { SendTurns } from './send-turns.js';
import { PeerSettings } from './settings.js';
import { StreamTable } from './stream-table.js';

export abstract class Http2Connection<S extends Http2Stream, T>
  extends Http2Link
  implements FrameListener<T>, DataReceiverHost<S>, StreamHost
{
  readonly encoder = new HeaderEncoder();
  readonly streams = new StreamTable<S>();
  readonly peer = new PeerSettings();
  sendWindow = DEFAULT_WINDOW;
  /** Bytes of DATA sent so far: whether a peer that is waited for makes progress. */
  sentBytes = 0;

  readonly #dispatcher = new FrameDispatcher<T>(this);
  readonly #isServer: boolean;
  #closedStreams: ClosedStreams | undefined;
  readonly #receiveFlow = new ReceiveFlow(this.writer);
  readonly #data = new DataReceiver<S>(this);
  readonly #turns = new SendTurns();
  readonly #mayGo = (): boolean => this.sendWindow > 0 && this.writer.dataRoom() > 0;

  /** Streams reset before they ended, by the peer or by its fault (CVE-2023-44487, CVE-2025-8671). */
  readonly #resets = new Allowance(1000, 100);

  constructor(wire: Connection, isServer: boolean, connected: boolean) {
    super(wire, connected);
    this.#isServer = isServer;
  }

  /** A block for a stream: a request, a response or trailers. */
  protected abstract onHeaders(id: number, block: HeaderBlock<T>, ends: boolean): void;
  /** The peer, or we, never used this stream. */
  protected abstract isIdle(id: number): boolean;
  abstract takeGathered(stream: S, last: boolean): boolean;
  abstract onGoAway(lastStreamId: number): void;
  /** The peer's settings have changed. */
  protected abstract onSettings(): void;
  /** A stream left {@link streams}. */
  protected abstract onStreamClosed(): void;

  get maxFrame(): number {
    return this.peer.maxFrame;
  }

  /** A message head is being received, or nothing was yet. */
  get awaitsHead(): boolean {
    return this.#dispatcher.awaitsHead;
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
    this.#receiveFlow.open();
  }

  protected override onInput(buffer: Buffer, start: number, end: number): void {
    this.#dispatcher.read(buffer, start, end);
    this.flushGathered();
  }

  protected override onWritable(): void {
    this.#turns.run(this.#mayGo);
  }

  protected override onEnded(detail: string): void {
    this.#data.end();
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
    return this.#receiveFlow.grow(stream.receiveLimit);
  }

  #remove(id: number): void {
    const stream = this.streams.delete(id);
    if (!stream) return;
    this.#receiveFlow.release(stream.receiveLimit);
    this.onStreamClosed();
  }

  #remember(id: number, how: typeof RESET_BY_PEER | typeof RESET_BY_US): void {
    (this.#closedStreams ??= new ClosedStreams()).add(id, how);
  }

  // ---- DATA

  onDataBegin(id: number, length: number, overhead: number): boolean {
    // RFC 9113 §6.9: DATA counts for the connection whatever becomes of the stream.
    if (!this.#receiveFlow.receive(length)) {
      this.fail(FLOW_CONTROL_ERROR, 'more DATA than the connection window allows');
      return false;
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
    this.#data.begin(stream, overhead);
    return true;
  }

  onData(buffer: Buffer, start: number, end: number, last: boolean): void {
    this.#data.receive(buffer, start, end, last);
  }

  /** A head was received: it goes on with the body's first part, if that is here already. */
  protected gatherFor(stream: S): void {
    this.#data.gatherFor(stream);
  }

  protected flushGathered(): void {
    this.#data.flush();
  }

  // ---- frames

  onConnectionError(code: number, detail: string): void {
    this.fail(code, detail);
  }

  onStreamError(id: number, code: number, detail: string): void {
    this.failStream(id, code, detail);
  }

  /** A frame that brings nothing. */
  onIdleFrame(): void {
    this.spendControl();
  }

  onPing({ buffer, start }: Payload): void {
    if (this.spendControl()) this.writer.ping(buffer, start, true);
  }

  onHeaderBlock(id: number, block: HeaderBlock<T>, form: HeaderForm): void {
    if (form.selfDependent) {
      this.failStream(id, PROTOCOL_ERROR, 'a stream that depends on itself');
      if (this.#isServer && id > this.lastStreamId) this.lastStreamId = id;
      return;
    }
    const stream = this.streams.get(id);
    if (stream?.remoteClosed || (stream === undefined && !this.isIdle(id))) {
      this.#onStrayFrame(id, stream, 'HEADERS');
      return;
    }
    if (stream !== undefined && this.#data.isGatheringFor(stream)) {
      this.flushGathered();
      if (stream.gone) return;
    }
    this.onHeaders(id, block, form.endsStream);
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

  onResetFrame(id: number, code: number): void {
    if (this.isIdle(id)) {
      this.fail(PROTOCOL_ERROR, 'RST_STREAM on an idle stream');
      return;
    }
    const stream = this.streams.get(id);
    if (!stream) {
      this.spendControl();
      return;
    }
    if (this.#data.isGatheringFor(stream)) {
      // A response may be complete but for its last, empty frame: what came before the reset counts.
      if (this.#isServer) this.#data.drop();
      else this.flushGathered();
    }
    stream.gone = true;
    this.#remember(id, RESET_BY_PEER);
    this.#remove(id);
    stream.onPeerReset(code);
    if (!this.#resets.spend()) this.fail(ENHANCE_YOUR_CALM, 'too many streams were reset');
  }

  onWindowUpdate(id: number, increment: number): void {
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

  onSettingsFrame({ buffer, start, end }: Payload): void {
    if (!this.spendControl()) return;
    const windowBefore = this.peer.initialWindow;
    for (let at = start; at < end; at += 6) {
      const error = this.peer.apply(buffer.readUInt16BE(at), buffer.readUInt32BE(at + 2), !this.#isServer);
      if (error !== NO_ERROR) {
        this.fail(error, 'SETTINGS with a wrong value');
        return;
      }
    }
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
}
