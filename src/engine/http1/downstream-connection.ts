import * as counter from '../../telemetry/engine-counters.js';
import type { DownstreamContext, DownstreamStream } from '../exchange/downstream.js';
import type { InboundExchange } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';
import type { ResponseHead } from '../exchange/heads.js';
import type { Piece } from '../exchange/piece.js';
import { Timer } from '../exchange/timer-wheel.js';
import type { TunnelCodec, TunnelEnd } from '../exchange/tunnel.js';
import { FAILED, PENDING } from '../wire/wire.js';
import type { Connection, WireError, WriteOutcome } from '../wire/wire.js';
import type { Http1Worker, Http2Takeover } from './http1-worker.js';
import { InboundBuffer } from './inbound-buffer.js';
import type { RawRequestHead } from './raw-heads.js';
import { RequestBody } from './request-body.js';
import { FOREIGN, HTTP2, MORE, REFUSED, RequestHeadReader } from './request-head-reader.js';
import { FRAMING_CLOSE, FRAMING_TUNNEL } from './response-encoder.js';
import { ResponseWriter } from './response-writer.js';

/** What a client may send ahead of its turn before we stop reading. */
const MAX_AHEAD_BYTES = 64 * 1024;
/** What we read of a body that nobody wants, to keep the connection. */
const MAX_DISCARDED_BYTES = 256 * 1024;
const AWAITING_HEAD = 0;
/** An exchange is in progress. */
const SERVING = 1;
/** The response is complete; the rest of the request's body is read and dropped. */
const DISCARDING = 2;
/** The last response was sent; the client is given time to read it. */
const LINGERING = 3;
const CLOSED = 4;

/**
 * A client's HTTP/1.1 connection: requests one after the other (RFC 9112 section 9.3.2), each handed to the runner.
 *
 * In: bytes. Out: exchanges, and their responses in order. It must not know routes, filters or backends.
 */
export class Http1DownstreamConnection extends Timer implements DownstreamStream, TunnelCodec {
  readonly context: DownstreamContext;
  readonly #worker: Http1Worker;
  readonly #wire: Connection;
  readonly #response: ResponseWriter;
  readonly #body = new RequestBody();
  readonly #reader: RequestHeadReader;
  readonly #buffer: InboundBuffer;
  #state = AWAITING_HEAD;
  #exchange: InboundExchange | undefined;
  #head: RawRequestHead | undefined;
  /** The exchange does not want the body now. */
  #held = false;
  #continueDue = false;
  /** Within {@link #process}: what would begin the next request is left to it. */
  #busy = false;
  #beginning = false;
  #released = false;
  /** The client has said that it will send nothing behind the request in progress, which has no body. */
  #final = false;
  #discarded = 0;
  /** The client sent FIN. */
  #ended = false;

  constructor(worker: Http1Worker, wire: Connection, context: DownstreamContext) {
    super();
    this.#worker = worker;
    this.#wire = wire;
    this.context = context;
    this.#response = new ResponseWriter(worker, wire);
    this.#buffer = new InboundBuffer(worker, wire);
    this.#reader = new RequestHeadReader(worker, context);
  }

  /** Begins to read; `received` came before (behind a PROXY header, for example). */
  start(received: Buffer): void {
    this.#worker.connectionBegins();
    this.#wire.handler = this;
    this.#buffer.share();
    this.#worker.wheel.arm(this, this.context.settings.readHeaderTimeoutMs);
    if (received.length > 0) this.#process(Buffer.from(received), 0, received.length);
    this.#read();
  }

  /** Closes now when no request is in progress, else after its response. */
  drain(): void {
    if (this.#state === AWAITING_HEAD && !this.#buffer.ahead && !this.#response.pending) this.#finish();
  }

  /** Ends at once. */
  destroy(): void {
    if (this.#state !== CLOSED) this.#wire.destroy();
  }

  // — the client —

  onConnect(): void {
    // Accepted connections are connected.
  }

  onSecure(): void {
    // The handshake is over before a connection comes here.
  }

  onRead(buffer: Buffer, length: number): void {
    const { bytes, from, to } = this.#buffer.locate(buffer, length);
    this.#process(bytes, from, to);
    this.#buffer.forget();
    this.#read();
  }

  onEnd(): void {
    this.#ended = true;
    if (this.#state === SERVING) {
      if (this.#body.tunnel) this.#exchange?.onRequestData(this.#worker.piece.clear(true));
      else this.#lose('the client closed before the response');
    } else if (this.#state !== CLOSED && !this.#response.pending) {
      // Nothing that was written is still on its way.
      this.#wire.destroy();
    }
  }

  onDrain(): void {
    this.#response.drained();
    if (this.#state === SERVING) {
      this.#armForExchange();
      this.#exchange?.onResponseDrain();
    } else if (this.#ended) this.#wire.destroy();
    else if (this.#state === AWAITING_HEAD) this.#goOn();
  }

  onClose(error: WireError | undefined): void {
    if (this.#state === CLOSED) return;
    this.#leave();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.onRequestAbort(error ? `the client's connection failed: ${error.code}` : 'the client closed');
  }

  override expire(): void {
    if (this.#state === SERVING) {
      const isUnread = this.#response.pending;
      this.#lose(isUnread ? 'the client does not read' : 'the body of the request stalled', 408);
    } else if (this.#state === AWAITING_HEAD && this.#buffer.ahead && !this.#response.pending) {
      this.#worker.count(counter.DOWNSTREAM_HEAD_TIMEOUTS, 1);
      this.#refuse(408, 'the head of the request took too long');
    } else if (this.#state !== CLOSED) this.#wire.destroy();
  }

  // — the exchange —

  sendInformational(head: ResponseHead): void {
    this.#response.informational(head);
  }

  sendHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.#state !== SERVING) return FAILED;
    const response = this.#response;
    // RFC 9110 section 10.1.1: a client that was not told to continue may or may not send the body now.
    if (this.#worker.draining || this.#head?.close !== false || this.#continueDue) response.close = true;
    if (this.#body.left > MAX_DISCARDED_BYTES && piece.last) response.close = true;
    const outcome = response.head(head, piece);
    if (response.framing === FRAMING_TUNNEL) this.#openTunnel();
    return this.#written(outcome);
  }

  sendData(piece: Piece): WriteOutcome {
    if (this.#state !== SERVING) return FAILED;
    const outcome = this.#response.data(piece);
    if (piece.last && this.#response.framing === FRAMING_TUNNEL) this.#wire.end();
    return this.#written(outcome);
  }

  sendTrailers(fields: Fields): void {
    if (this.#state === SERVING) this.#written(this.#response.trailers(fields));
  }

  abort(): void {
    if (this.#state === CLOSED) return;
    // An end of the connection would pass for the end of such a body.
    if (this.#response.framing === FRAMING_CLOSE) this.#wire.reset();
    else this.#wire.destroy();
  }

  resumeBody(): void {
    if (this.#state !== SERVING) return;
    this.#held = false;
    this.#buffer.lent = false;
    if (this.#continueDue) {
      this.#continueDue = false;
      this.#response.continue();
    }
    this.#armForExchange();
    if (!this.#busy) this.#goOn();
  }

  pauseBody(): void {
    this.#held = true;
    if (!this.#busy) this.#read();
  }

  tunnelEnd(): TunnelEnd | undefined {
    const isOpen = this.#state === SERVING && this.#body.tunnel && !this.#held && !this.#ended;
    const isIdle = this.#buffer.idle && !this.#response.pending;
    return isOpen && isIdle ? { connection: this.#wire, codec: this } : undefined;
  }

  holdReading(): void {
    this.#buffer.lent = true;
    this.#read();
  }

  awaitDrain(): void {
    this.#response.pending = true;
    this.#written(PENDING);
  }

  release(): void {
    this.#exchange = undefined;
    this.#released = true;
    if (this.#beginning) return;
    this.#afterExchange();
    if (!this.#busy) this.#goOn();
  }

  // — requests —

  /** Goes on with what was read before, then with reading. */
  #goOn(): void {
    const ahead = this.#buffer.ahead;
    if (ahead) {
      this.#buffer.ahead = undefined;
      this.#process(ahead, 0, ahead.length);
    } else this.#settleBuffer();
    this.#read();
  }

  #process(buffer: Buffer, start: number, end: number): void {
    this.#busy = true;
    let at = start;
    while (at < end) {
      const before = at;
      if (this.#state === AWAITING_HEAD) {
        if (this.#response.pending) break;
        at = this.#readHead(buffer, at, end);
        if (at === before) break;
      } else if (this.#state === SERVING) {
        if (!this.#body.active || this.#held || this.#buffer.lent) break;
        at = this.#readBody(buffer, at, end);
      } else if (this.#state === DISCARDING) {
        at = this.#discardBody(buffer, at, end);
      } else {
        at = end;
      }
    }
    if (at < end && this.#state < LINGERING) this.#buffer.ahead = Buffer.from(buffer.subarray(at, end));
    this.#busy = false;
    this.#settleBuffer();
  }

  /** Answers the offset behind the head and what was taken of the body, or `start` when more is needed. */
  #readHead(buffer: Buffer, start: number, end: number): number {
    const worker = this.#worker;
    const reader = this.#reader;
    const behind = reader.read(buffer, start, end);
    switch (behind) {
      case MORE:
        if (reader.looks === 1) worker.wheel.arm(this, this.context.settings.readHeaderTimeoutMs);
        return start;
      case HTTP2:
        if (worker.http2) this.#handOver(worker.http2, buffer, start, end);
        return end;
      case FOREIGN:
        worker.runner.reject(this.context, reader.status, reader.problem);
        this.#wire.destroy();
        return end;
      case REFUSED:
        this.#refuse(reader.status, reader.problem);
        return end;
      default:
        return reader.head ? this.#begin(reader.head, buffer, behind, end) : behind;
    }
  }

  #begin(head: RawRequestHead, buffer: Buffer, behindHead: number, end: number): number {
    const worker = this.#worker;
    const { piece } = worker;
    this.#body.begin(head);
    const behind = this.#body.read(buffer, behindHead, end, piece);
    if (behind < 0) {
      worker.giveHead(head);
      this.#refuse(400, this.#body.problem);
      return end;
    }
    this.#state = SERVING;
    this.#head = head;
    this.#response.reset(head);
    this.#final = head.close && !head.chunked && head.contentLength <= 0;
    this.#continueDue = head.expectContinue && behind === behindHead;
    this.#held = this.#continueDue;
    worker.wheel.disarm(this);
    worker.requestBegins();
    this.#beginning = true;
    this.#released = false;
    const exchange = worker.runner.begin(this, head, piece);
    this.#beginning = false;
    if (this.#isReleased()) this.#afterExchange();
    else this.#keep(exchange, head);
    return behind;
  }

  #isReleased(): boolean {
    return this.#released;
  }

  /** The exchange goes on after this turn of the event loop: it needs what lies in buffers that others use. */
  #keep(exchange: InboundExchange, head: RawRequestHead): void {
    if (this.#state === CLOSED) {
      exchange.onRequestAbort('the client closed');
      return;
    }
    this.#exchange = exchange;
    head.retain();
    if (this.#body.trailers) exchange.onRequestTrailers(this.#body.trailers);
    if (this.#body.active) this.#buffer.take();
    this.#armForExchange();
  }

  #readBody(buffer: Buffer, start: number, end: number): number {
    const { piece } = this.#worker;
    const behind = this.#body.read(buffer, start, end, piece);
    if (behind < 0) {
      this.#lose(this.#body.problem, 400);
      return end;
    }
    if (behind === end) this.#buffer.giveRoom(piece);
    const exchange = this.#exchange;
    if (exchange && (piece.length > 0 || piece.last)) {
      if (exchange.onRequestData(piece) === PENDING && this.#exchange) this.#buffer.lent = true;
    }
    if (this.#body.trailers && !this.#body.active) this.#exchange?.onRequestTrailers(this.#body.trailers);
    this.#armForExchange();
    return behind;
  }

  #discardBody(buffer: Buffer, start: number, end: number): number {
    const behind = this.#body.read(buffer, start, end, this.#worker.piece);
    this.#discarded += end - start;
    if (behind < 0 || this.#discarded > MAX_DISCARDED_BYTES) {
      this.#finish();
      return end;
    }
    if (!this.#body.active) this.#awaitHead();
    return behind;
  }

  #openTunnel(): void {
    this.#body.beginTunnel();
    this.#final = false;
    // The exchange lets the client's bytes flow when it is ready for them.
    this.#held = true;
    this.#buffer.take();
    this.#worker.count(counter.TUNNELS_ACTIVE, 1);
  }

  #afterExchange(): void {
    this.#giveHead();
    if (this.#state !== SERVING) return;
    this.#buffer.abandon();
    if (this.#body.tunnel) {
      this.#stopBody();
      this.#finish();
    } else if (!this.#response.done) this.abort();
    else if (this.#response.close || this.#ended) this.#finish();
    else if (!this.#body.active) this.#awaitHead();
    else this.#discard();
  }

  /** What still comes of the body or tunnel is nobody's. */
  #stopBody(): void {
    if (this.#body.tunnel) {
      this.#worker.count(counter.TUNNELS_ACTIVE, -1);
      this.#wire.handler = this;
    }
    this.#body.stop();
  }

  #awaitHead(): void {
    this.#state = AWAITING_HEAD;
    if (this.#worker.draining) this.#finish();
    else this.#worker.wheel.arm(this, this.#worker.timeouts.idleMs);
  }

  #discard(): void {
    this.#discarded = 0;
    this.#held = false;
    this.#state = DISCARDING;
    if (this.#body.left > MAX_DISCARDED_BYTES) this.#finish();
    else this.#worker.wheel.arm(this, this.#worker.timeouts.bodyMs);
  }

  /** Our last word was said: FIN, and time for the client to read it before unread bytes would make it a reset. */
  #finish(): void {
    this.#state = LINGERING;
    this.#buffer.ahead = undefined;
    const { wheel, timeouts } = this.#worker;
    if (this.#final) this.#wire.close();
    else this.#wire.end();
    if (this.#ended && !this.#response.pending) this.#wire.destroy();
    else wheel.arm(this, this.#response.pending ? timeouts.writeMs : timeouts.lingerMs);
  }

  /** The client is gone, or stalls, or broke its framing: the exchange ends; `status` is said if it still can be. */
  #lose(detail: string, status = 0): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    const isSilent = status === 0 || this.#response.begun || this.#response.pending;
    this.#state = LINGERING;
    this.#stopBody();
    exchange?.onRequestAbort(detail);
    this.#buffer.abandon();
    if (isSilent) this.abort();
    else this.#refuse(status, detail);
  }

  /** Answers without an exchange, and closes. */
  #refuse(status: number, problem: string): void {
    if (status !== 408) this.#worker.count(counter.DOWNSTREAM_PROTOCOL_ERRORS, 1);
    this.#worker.runner.reject(this.context, status, problem);
    if (this.#response.refuse(status) === FAILED) this.#wire.destroy();
    else this.#finish();
  }

  #written(outcome: WriteOutcome): WriteOutcome {
    if (outcome === PENDING) this.#worker.wheel.arm(this, this.#worker.timeouts.writeMs);
    else if (outcome === FAILED) this.abort();
    return outcome;
  }

  #armForExchange(): void {
    const { wheel, timeouts } = this.#worker;
    if (this.#state !== SERVING) return;
    if (this.#response.pending) wheel.arm(this, timeouts.writeMs);
    else if (this.#body.active && !this.#held && !this.#buffer.lent && !this.#body.tunnel)
      wheel.arm(this, timeouts.bodyMs);
    else wheel.disarm(this);
  }

  /** Reads or not, as the state wants. While a response is awaited reading goes on, to notice that the client leaves. */
  #read(): void {
    if (this.#state === CLOSED) return;
    const isBodyTurn = this.#state === SERVING && this.#body.active;
    const wanted = isBodyTurn
      ? !this.#held && !this.#buffer.lent
      : (this.#buffer.ahead?.length ?? 0) <= MAX_AHEAD_BYTES;
    this.#buffer.setReading(wanted);
  }

  /** Gives the own buffer back when nothing of it is needed any more. */
  #settleBuffer(): void {
    if (this.#state !== SERVING || !this.#body.active) this.#buffer.giveBack();
  }

  #giveHead(): void {
    const head = this.#head;
    if (!head) return;
    this.#head = undefined;
    this.#worker.giveHead(head);
    this.#worker.count(counter.DOWNSTREAM_REQUESTS_ACTIVE, -1);
  }

  #handOver(http2: Http2Takeover, buffer: Buffer, start: number, end: number): void {
    this.#leave();
    this.#buffer.setReading(false);
    http2(this.#wire, this.context, Buffer.from(buffer.subarray(start, end)));
  }

  /** The connection is no longer ours. */
  #leave(): void {
    this.#state = CLOSED;
    this.#stopBody();
    this.#buffer.ahead = undefined;
    this.#worker.wheel.remove(this);
    this.#worker.count(counter.DOWNSTREAM_CONNECTIONS_ACTIVE, -1);
    this.#buffer.left = true;
    this.#buffer.abandon();
    if (!this.#busy) this.#settleBuffer();
    this.#worker.closed(this);
  }
}
