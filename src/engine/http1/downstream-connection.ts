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
import type { Http1Worker } from './http1-worker.js';
import type { RawRequestHead } from './raw-heads.js';
import {
  AWAITING_HEAD,
  BAD_REQUEST,
  BODY,
  BROKEN_BODY,
  CLOSED,
  DISCARDED,
  ENDLESS,
  HEAD_BEGUN,
  LINGERING,
  NO_HTTP,
  NOTHING,
  PREFACE,
  REQUEST,
  RequestReader,
  SERVING,
  type ReadEvent,
} from './request-reader.js';
import { FRAMING_CLOSE, FRAMING_TUNNEL } from './response-encoder.js';
import { ResponseWriter } from './response-writer.js';

/**
 * A client's HTTP/1.1 connection: requests one after the other (RFC 9112 section 9.3.2), each handed to the runner.
 *
 * In: bytes. Out: exchanges, and their responses in order. It must not know routes, filters or backends.
 */
export class Http1DownstreamConnection extends Timer implements DownstreamStream, TunnelCodec {
  readonly context: DownstreamContext;
  readonly #worker: Http1Worker;
  readonly #wire: Connection;
  readonly #requests: RequestReader;
  readonly #response: ResponseWriter;
  #exchange: InboundExchange | undefined;
  #head: RawRequestHead | undefined;
  /** Within {@link #process}: what would begin the next request is left to it. */
  #busy = false;
  #beginning = false;
  #released = false;
  /** The client has said that it will send nothing behind the request in progress, which has no body. */
  #final = false;
  /** The client sent FIN. */
  #ended = false;

  constructor(worker: Http1Worker, wire: Connection, context: DownstreamContext) {
    super();
    this.#worker = worker;
    this.#wire = wire;
    this.context = context;
    this.#requests = new RequestReader(worker, wire, context);
    this.#response = new ResponseWriter(worker, wire);
  }

  /** Begins to read; `received` came before (behind a PROXY header, for example). */
  start(received: Buffer): void {
    this.#worker.connectionBegins();
    this.#wire.handler = this;
    this.#requests.buffer.share();
    this.#worker.wheel.arm(this, this.context.settings.readHeaderTimeoutMs);
    if (received.length > 0) {
      this.#requests.buffer.put(Buffer.from(received));
      this.#process();
    }
    this.#requests.setReading();
  }

  /** Closes now when no request is in progress, else after its response. */
  drain(): void {
    const { phase, buffer } = this.#requests;
    if (phase === AWAITING_HEAD && !buffer.ahead && !this.#response.pending) this.#finish();
  }

  /** Ends at once. */
  destroy(): void {
    if (this.#requests.phase !== CLOSED) this.#wire.destroy();
  }

  // — the client —

  onConnect(): void {
    // Accepted connections are connected.
  }

  onSecure(): void {
    // The handshake is over before a connection comes here.
  }

  onRead(buffer: Buffer, length: number): void {
    this.#requests.buffer.locate(buffer, length);
    this.#process();
    this.#requests.setReading();
  }

  onEnd(): void {
    this.#ended = true;
    if (this.#requests.phase === SERVING) {
      if (this.#requests.body.tunnel) this.#exchange?.onRequestData(this.#worker.piece.clear(true));
      else this.#lose('the client closed before the response');
    } else if (this.#requests.phase !== CLOSED && !this.#response.pending) {
      // Nothing that was written is still on its way.
      this.#wire.destroy();
    }
  }

  onDrain(): void {
    this.#response.drained();
    if (this.#requests.phase === SERVING) {
      this.#armForExchange();
      this.#exchange?.onResponseDrain();
    } else if (this.#ended) this.#wire.destroy();
    else if (this.#requests.phase === AWAITING_HEAD) this.#goOn();
  }

  onClose(error: WireError | undefined): void {
    if (this.#requests.phase === CLOSED) return;
    this.#leave();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.onRequestAbort(error ? `the client's connection failed: ${error.code}` : 'the client closed');
  }

  override expire(): void {
    if (this.#requests.phase === SERVING) {
      const isUnread = this.#response.pending;
      this.#lose(isUnread ? 'the client does not read' : 'the body of the request stalled', 408);
    } else if (
      this.#requests.phase === AWAITING_HEAD &&
      this.#requests.buffer.ahead &&
      !this.#response.pending
    ) {
      this.#worker.count(counter.DOWNSTREAM_HEAD_TIMEOUTS, 1);
      this.#refuse(408, 'the head of the request took too long');
    } else if (this.#requests.phase !== CLOSED) this.#wire.destroy();
  }

  // — the exchange —

  sendInformational(head: ResponseHead): void {
    this.#response.informational(head);
  }

  sendHead(head: ResponseHead, piece: Piece): WriteOutcome {
    const worker = this.#worker;
    const requests = this.#requests;
    if (requests.phase !== SERVING) return FAILED;
    const response = this.#response;
    // RFC 9110 section 10.1.1: a client that was not told to continue may or may not send the body now.
    if (worker.draining || this.#head?.close !== false || requests.continueDue) response.close = true;
    if (piece.last && requests.isRestLong) response.close = true;
    const outcome = response.head(head, piece);
    if (response.framing === FRAMING_TUNNEL) this.#openTunnel();
    return this.#written(outcome);
  }

  sendData(piece: Piece): WriteOutcome {
    if (this.#requests.phase !== SERVING) return FAILED;
    const outcome = this.#response.data(piece);
    if (piece.last && this.#response.framing === FRAMING_TUNNEL) this.#wire.end();
    return this.#written(outcome);
  }

  sendTrailers(fields: Fields): void {
    if (this.#requests.phase === SERVING) this.#written(this.#response.trailers(fields));
  }

  abort(): void {
    if (this.#requests.phase === CLOSED) return;
    // An end of the connection would pass for the end of such a body.
    if (this.#response.framing === FRAMING_CLOSE) this.#wire.reset();
    else this.#wire.destroy();
  }

  resumeBody(): void {
    const requests = this.#requests;
    if (requests.phase !== SERVING) return;
    requests.resume();
    if (requests.continueDue) {
      requests.continueDue = false;
      this.#response.continue();
    }
    this.#armForExchange();
    if (!this.#busy) this.#goOn();
  }

  pauseBody(): void {
    this.#requests.held = true;
    if (!this.#busy) this.#requests.setReading();
  }

  tunnelEnd(): TunnelEnd | undefined {
    const { phase, body, held, buffer } = this.#requests;
    const isOpen = phase === SERVING && body.tunnel && !held && !this.#ended;
    const isIdle = buffer.idle && !this.#response.pending;
    return isOpen && isIdle ? { connection: this.#wire, codec: this } : undefined;
  }

  holdReading(): void {
    this.#requests.buffer.lent = true;
    this.#requests.setReading();
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
    this.#requests.buffer.locateAhead();
    this.#process();
    this.#requests.setReading();
  }

  /** Does what can be done now with what was read. */
  #process(): void {
    const requests = this.#requests;
    this.#busy = true;
    let event: ReadEvent;
    do {
      event = requests.next(!this.#response.pending);
      if (event !== NOTHING) this.#handle(event);
    } while (event > NOTHING);
    requests.pause();
    this.#busy = false;
  }

  #handle(event: ReadEvent): void {
    const { head, status, problem } = this.#requests;
    switch (event) {
      case REQUEST:
        if (head) this.#begin(head);
        return;
      case BODY:
        this.#passBody();
        return;
      case DISCARDED:
        this.#awaitHead();
        return;
      case ENDLESS:
        this.#finish();
        return;
      case HEAD_BEGUN:
        this.#worker.wheel.arm(this, this.context.settings.readHeaderTimeoutMs);
        return;
      case BROKEN_BODY:
        this.#lose(problem, status);
        return;
      case BAD_REQUEST:
        this.#refuse(status, problem);
        return;
      case NO_HTTP:
        this.#worker.runner.reject(this.context, status, problem);
        this.#wire.destroy();
        return;
      case PREFACE:
        this.#handOver();
        return;
      default:
    }
  }

  #begin(head: RawRequestHead): void {
    const worker = this.#worker;
    this.#head = head;
    this.#response.reset(head);
    this.#final = head.close && !head.chunked && head.contentLength <= 0;
    worker.wheel.disarm(this);
    worker.requestBegins();
    this.#beginning = true;
    this.#released = false;
    const exchange = worker.runner.begin(this, head, worker.piece);
    this.#beginning = false;
    if (this.#isReleased()) this.#afterExchange();
    else this.#keep(exchange, head);
  }

  #isReleased(): boolean {
    return this.#released;
  }

  /** The exchange goes on after this turn of the event loop: it needs what lies in buffers that others use. */
  #keep(exchange: InboundExchange, head: RawRequestHead): void {
    if (this.#requests.phase === CLOSED) {
      exchange.onRequestAbort('the client closed');
      return;
    }
    this.#exchange = exchange;
    head.retain();
    const { body, buffer } = this.#requests;
    if (body.trailers) exchange.onRequestTrailers(body.trailers);
    if (body.active) buffer.take();
    this.#armForExchange();
  }

  #passBody(): void {
    const { body, buffer } = this.#requests;
    const { piece } = this.#worker;
    const exchange = this.#exchange;
    if (exchange && (piece.length > 0 || piece.last)) {
      if (exchange.onRequestData(piece) === PENDING && this.#exchange) buffer.lent = true;
    }
    if (body.trailers && !body.active) this.#exchange?.onRequestTrailers(body.trailers);
    this.#armForExchange();
  }

  #openTunnel(): void {
    this.#requests.beginTunnel();
    this.#final = false;
    this.#worker.count(counter.TUNNELS_ACTIVE, 1);
  }

  #afterExchange(): void {
    this.#giveHead();
    const { phase, body, buffer } = this.#requests;
    if (phase !== SERVING) return;
    buffer.abandon();
    if (body.tunnel) {
      this.#stopBody();
      this.#finish();
    } else if (!this.#response.done) this.abort();
    else if (this.#response.close || this.#ended) this.#finish();
    else if (!body.active) this.#awaitHead();
    else this.#discard();
  }

  /** What still comes of the body or tunnel is nobody's. */
  #stopBody(): void {
    const { body } = this.#requests;
    if (body.tunnel) {
      this.#worker.count(counter.TUNNELS_ACTIVE, -1);
      this.#wire.handler = this;
    }
    body.stop();
  }

  #awaitHead(): void {
    this.#requests.phase = AWAITING_HEAD;
    if (this.#worker.draining) this.#finish();
    else this.#worker.wheel.arm(this, this.#worker.timeouts.idleMs);
  }

  #discard(): void {
    this.#requests.discard();
    if (this.#requests.isRestLong) this.#finish();
    else this.#worker.wheel.arm(this, this.#worker.timeouts.bodyMs);
  }

  /** Our last word was said: FIN, and time for the client to read it before unread bytes would make it a reset. */
  #finish(): void {
    this.#requests.linger();
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
    this.#requests.phase = LINGERING;
    this.#stopBody();
    exchange?.onRequestAbort(detail);
    this.#requests.buffer.abandon();
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
    const requests = this.#requests;
    if (requests.phase !== SERVING) return;
    if (this.#response.pending) wheel.arm(this, timeouts.writeMs);
    else if (requests.flows && !requests.body.tunnel) wheel.arm(this, timeouts.bodyMs);
    else wheel.disarm(this);
  }

  #giveHead(): void {
    const head = this.#head;
    if (!head) return;
    this.#head = undefined;
    this.#worker.giveHead(head);
    this.#worker.count(counter.DOWNSTREAM_REQUESTS_ACTIVE, -1);
  }

  #handOver(): void {
    const { buffer } = this.#requests;
    this.#leave();
    buffer.setReading(false);
    this.#worker.http2?.(this.#wire, this.context, buffer.takeRest());
  }

  /** The connection is no longer ours. */
  #leave(): void {
    this.#stopBody();
    this.#requests.leave();
    this.#worker.wheel.remove(this);
    this.#worker.count(counter.DOWNSTREAM_CONNECTIONS_ACTIVE, -1);
    if (!this.#busy) this.#requests.settleBuffer();
    this.#worker.closed(this);
  }
}
