import { Piece } from '../exchange/piece.js';
import { PlainRequestHead, PlainResponseHead, type RequestHead } from '../exchange/heads.js';
import type { OutboundRequest, UpstreamFailure, UpstreamHandler } from '../exchange/upstream.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { Connection, WireError } from '../wire/wire.js';
import { ConnectionWatch, type WatchLimits } from './connection-watch.js';
import { readTrailers } from './field-rules.js';
import {
  CANCEL,
  MAX_WINDOW,
  PROTOCOL_ERROR,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_MAX_HEADER_LIST_SIZE,
} from './frame.js';
import { MAX_HEADER_LENGTH } from './header-assembler.js';
import type { HeaderBlock } from './header-block.js';
import { Http2Connection } from './http2-connection.js';
import { inboundGather } from './inbound-gather.js';
import { CLIENT_PREFACE } from './preface.js';
import { readResponse, type ResponseTemplate } from './response-head.js';
import { Http2UpstreamStream, type UpstreamStreamOwner } from './upstream-stream.js';

/** Streams we open on one connection, however many the backend allows. */
const MAX_STREAMS = 256;
/** Requests that wait for a stream of one connection. */
const MAX_WAITING = 1024;
/** Past this identifier a connection is replaced: there are 2^31. */
const LAST_USABLE_ID = MAX_WINDOW - 2;

/** What a connection tells the connector that made it. */
export interface UpstreamConnectionOwner extends UpstreamStreamOwner {
  onConnected(connection: Http2UpstreamConnection): void;
  /** Called once: no more streams may be opened. */
  onUnusable(connection: Http2UpstreamConnection): void;
  onClosed(connection: Http2UpstreamConnection, wasConnected: boolean): void;
}

export interface UpstreamConnectionOptions {
  readonly secure: boolean;
  readonly wheel: TimerWheel;
  readonly limits: WatchLimits;
}

interface Waiting {
  readonly stream: Http2UpstreamStream;
  readonly head: RequestHead;
}

const NO_TUNNELS: UpstreamFailure = {
  kind: 'protocol',
  detail: 'the backend does not take upgrades over HTTP/2',
};

const piece = new Piece();

/** A connection to an HTTP/2 backend: requests out, responses in, many at a time. */
export class Http2UpstreamConnection extends Http2Connection<Http2UpstreamStream, ResponseTemplate> {
  readonly #owner: UpstreamConnectionOwner;
  readonly #secure: boolean;
  #connected = false;
  #usable = true;
  #nextId = 1;
  #waiting: Waiting[] = [];
  /** Upgrades that wait for the backend's settings. */
  #upgrades: Waiting[] = [];
  #hasSettings = false;
  #unconnected: UpstreamFailure | undefined;
  readonly #watch: ConnectionWatch;

  constructor(wire: Connection, owner: UpstreamConnectionOwner, options: UpstreamConnectionOptions) {
    super(wire, false, false);
    this.#owner = owner;
    this.#secure = options.secure;
    this.#watch = new ConnectionWatch(this, options.wheel, options.limits);
    wire.handler = this;
    this.writer.bytes(CLIENT_PREFACE);
    // RFC 9113 §8.4: nobody could use what is pushed.
    this.sendPreface([SETTINGS_ENABLE_PUSH, 0, SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER_LENGTH]);
  }

  /** Requests on this connection, those that wait included. */
  get load(): number {
    return this.streams.size + this.#waiting.length + this.#upgrades.length;
  }

  get hasRoom(): boolean {
    return this.streams.size < Math.min(MAX_STREAMS, this.peer.maxConcurrentStreams);
  }

  override get activity(): number {
    return this.#nextId;
  }

  /** The watch ends what drains; we only ever finish. */
  get isDraining(): boolean {
    return !this.#usable;
  }

  open(request: OutboundRequest, handler: UpstreamHandler): Http2UpstreamStream {
    const { head } = request;
    const stream = new Http2UpstreamStream(this, this.#owner, request, {
      handler,
      reused: this.#nextId > 1,
    });
    if (head.upgrade !== '' && !this.peer.connectProtocol) {
      this.#holdUpgrade(stream, head);
    } else if (this.#mayStart) {
      this.#start(stream, head);
      stream.sendFirst(request.piece);
    } else if (this.#waiting.length < MAX_WAITING) {
      stream.sendFirst(request.piece);
      this.#waiting.push({ stream, head: PlainRequestHead.of(head) });
    } else {
      // The handler hears nothing before this call has returned.
      setImmediate(() => {
        stream.onUnconnected({ kind: 'connect', detail: 'too many requests wait for a stream' });
      });
    }
    return stream;
  }

  /** RFC 8441 section 3: extended CONNECT is for a server that has said that it knows it, so its settings come first. */
  #holdUpgrade(stream: Http2UpstreamStream, head: RequestHead): void {
    if (!this.#hasSettings && this.#upgrades.length < MAX_WAITING) {
      this.#upgrades.push({ stream, head: PlainRequestHead.of(head) });
      return;
    }
    // The handler hears nothing before this call has returned.
    setImmediate(() => {
      stream.onUnconnected(NO_TUNNELS);
    });
  }

  #decideUpgrades(): void {
    const upgrades = this.#upgrades;
    this.#upgrades = [];
    for (const waiting of upgrades) {
      if (this.peer.connectProtocol) this.#waiting.push(waiting);
      else waiting.stream.onUnconnected(NO_TUNNELS);
    }
  }

  get #mayStart(): boolean {
    return this.hasRoom && this.#waiting.length === 0;
  }

  /** Takes over a stream that another connection has not served. */
  adopt(stream: Http2UpstreamStream, head: RequestHead): void {
    stream.replayOn(this);
    if (this.#mayStart) this.#start(stream, head);
    else this.#waiting.push({ stream, head });
  }

  #start(stream: Http2UpstreamStream, head: RequestHead): void {
    stream.id = this.#nextId;
    this.#nextId += 2;
    stream.sendWindow = this.peer.initialWindow;
    this.streams.add(stream);
    stream.start(head, this.#secure);
    if (this.#nextId >= LAST_USABLE_ID) this.finish();
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.hasRoom && !this.stopped) {
      const next = this.#waiting.shift();
      if (next && !next.stream.gone) this.#start(next.stream, next.head);
    }
  }

  /** Opens no more streams and closes after the last. */
  finish(): void {
    this.#retire();
    this.#closeIfDone();
  }

  destroy(): void {
    this.wire.destroy();
  }

  #retire(): void {
    if (!this.#usable) return;
    this.#usable = false;
    this.#owner.onUnusable(this);
  }

  #closeIfDone(): void {
    if (this.#usable || this.load > 0 || this.stopped) return;
    this.stopped = true;
    this.endWire();
  }

  override onConnect(): void {
    if (this.#secure && this.wire.alpn !== 'h2') {
      this.#unconnected = { kind: 'tls', detail: 'the backend did not choose h2 by ALPN' };
      this.wire.destroy();
      return;
    }
    this.#connected = true;
    this.#watch.start();
    this.writer.corked = false;
    this.startReading();
    this.#owner.onConnected(this);
    this.writer.flush();
  }

  protected override isIdle(id: number): boolean {
    return id % 2 === 0 || id >= this.#nextId;
  }

  protected override onHeaders(id: number, block: HeaderBlock<ResponseTemplate>, ends: boolean): void {
    const stream = this.streams.get(id);
    if (!stream) return;
    if (block.malformed || block.tooLarge) {
      this.failStream(id, PROTOCOL_ERROR, block.malformed ? 'malformed field' : 'head too large');
    } else if (stream.hasHead) this.#onTrailers(stream, block, ends);
    else this.#onHead(stream, block, ends);
  }

  #onHead(stream: Http2UpstreamStream, block: HeaderBlock<ResponseTemplate>, ends: boolean): void {
    const template = (block.template ??= readResponse(block.fields));
    if (template === undefined || (template.status < 200 && ends)) {
      this.failStream(stream.id, PROTOCOL_ERROR, 'malformed response head');
      return;
    }
    const fields = block.list(template.fields);
    if (template.status < 200) {
      // The gateway answers `expect: 100-continue` itself.
      if (template.status !== 100) {
        stream.onInformational(new PlainResponseHead(template.status, fields, -1, '2.0'));
      }
      return;
    }
    if (!stream.onHead(template, fields) || (ends && !stream.endRemote())) {
      this.failStream(stream.id, PROTOCOL_ERROR, 'body shorter than its content-length');
      return;
    }
    if (!ends) this.gatherFor(stream);
    else {
      this.flushGathered();
      stream.take(piece.clear(true));
    }
  }

  #onTrailers(stream: Http2UpstreamStream, block: HeaderBlock<ResponseTemplate>, ends: boolean): void {
    const fields = ends ? (block.trailers ??= readTrailers(block.fields)) : undefined;
    if (fields === undefined || !stream.endRemote()) {
      this.failStream(stream.id, PROTOCOL_ERROR, 'malformed trailers');
      return;
    }
    stream.takeTrailers(fields.length > 0 ? block.list(fields) : undefined);
  }

  override takeGathered(stream: Http2UpstreamStream, last: boolean): boolean {
    return stream.take(inboundGather.finish(last));
  }

  override onGoAway(lastStreamId: number): void {
    this.#retire();
    // RFC 9113 §6.8: what is above was not and will not be acted upon.
    const detail = 'the backend has sent GOAWAY';
    for (const stream of this.streams.values()) {
      if (stream.id <= lastStreamId) continue;
      this.reset(stream, CANCEL);
      stream.onLost(detail, 'unprocessed');
    }
    for (const { stream } of this.#takeWaiting()) stream.onLost(detail, 'unprocessed');
    this.#closeIfDone();
  }

  #loseWaiting(failure: UpstreamFailure): void {
    for (const { stream } of this.#takeWaiting()) stream.onUnconnected(failure);
  }

  #takeWaiting(): readonly Waiting[] {
    const waiting = [...this.#waiting, ...this.#upgrades];
    this.#waiting = [];
    this.#upgrades = [];
    return waiting;
  }

  protected override onSettings(): void {
    this.#hasSettings = true;
    this.#decideUpgrades();
    this.#startWaiting();
  }

  protected override onStreamClosed(): void {
    this.#startWaiting();
    this.#closeIfDone();
  }

  /** Nothing was sent when the connection was never made. */
  protected override onEnded(detail: string): void {
    this.#retire();
    if (!this.#connected) {
      const failure = this.#unconnected ?? { kind: 'connect', detail };
      for (const stream of this.streams.values()) {
        this.streams.delete(stream.id);
        stream.onUnconnected(failure);
      }
      this.#loseWaiting(failure);
      return;
    }
    super.onEnded(detail);
    this.#loseWaiting({ kind: 'connect', detail });
  }

  override onClose(error: WireError | undefined): void {
    if (!this.#connected && error) this.#unconnected ??= toFailure(error);
    super.onClose(error);
  }

  protected override onFailed(): void {
    // The watch destroys what the backend does not close.
  }

  protected override onClosed(): void {
    this.#watch.stop();
    this.#owner.onClosed(this, this.#connected);
  }
}

/** Codes of the system have no underscore; EPROTO is what an alert of the other side becomes. */
const SYSTEM_ERRORS = /^(?:E(?!PROTO)[A-Z0-9]+|ERR_UNKNOWN)$/;

/** Which of the two ways in which no connection was made: by the system, or by TLS. */
function toFailure(error: WireError): UpstreamFailure {
  return { kind: SYSTEM_ERRORS.test(error.code) ? 'connect' : 'tls', detail: error.code };
}
