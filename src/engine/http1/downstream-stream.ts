import * as counter from '../../telemetry/engine-counters.js';
import type { DownstreamContext, DownstreamStream } from '../exchange/downstream.js';
import type { InboundExchange } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';
import type { ResponseHead } from '../exchange/heads.js';
import type { Piece } from '../exchange/piece.js';
import type { TunnelEnd } from '../exchange/tunnel.js';
import { FAILED, PENDING, type WriteOutcome } from '../wire/wire.js';
import type { Http1Worker } from './http1-worker.js';
import type { RawRequestHead } from './raw-heads.js';
import { SERVING, type RequestReader } from './request-reader.js';
import { FRAMING_TUNNEL } from './response-encoder.js';
import type { ResponseWriter } from './response-writer.js';

/** What the connection does for the request in progress. */
export interface StreamConnection {
  readonly context: DownstreamContext;
  /** The exchange wants the body now, or it does not. */
  onBodyWanted(): void;
  onBodyHeld(): void;
  /** Some of the response was written. */
  onWritten(outcome: WriteOutcome): void;
  /** Our direction of the tunnel has ended. */
  onTunnelOutputEnd(): void;
  /** The exchange is over, and not within the call that began it. */
  onReleased(): void;
  abort(): void;
  tunnelEnd(): TunnelEnd | undefined;
}

/**
 * The request in progress of a client connection, one after the other: its exchange, its head, which is the worker's again
 * when it is over, and its response.
 */
export class Http1DownstreamStream implements DownstreamStream {
  readonly #connection: StreamConnection;
  readonly #worker: Http1Worker;
  readonly #requests: RequestReader;
  readonly #response: ResponseWriter;
  #exchange: InboundExchange | undefined;
  #head: RawRequestHead | undefined;
  #beginning = false;
  #released = false;

  constructor(
    connection: StreamConnection,
    worker: Http1Worker,
    requests: RequestReader,
    response: ResponseWriter,
  ) {
    this.#connection = connection;
    this.#worker = worker;
    this.#requests = requests;
    this.#response = response;
  }

  get context(): DownstreamContext {
    return this.#connection.context;
  }

  // — the client —

  /** Begins the exchange with what came of the body. False: it is over already. */
  begin(head: RawRequestHead): boolean {
    const worker = this.#worker;
    this.#head = head;
    this.#response.reset(head);
    worker.requestBegins();
    this.#beginning = true;
    this.#released = false;
    const exchange = worker.runner.begin(this, head, worker.piece);
    this.#beginning = false;
    if (this.#isReleased()) return false;
    this.#keep(exchange, head);
    return true;
  }

  /** The worker's piece is more of the body. */
  passBody(): void {
    const { body, buffer } = this.#requests;
    const { piece } = this.#worker;
    const exchange = this.#exchange;
    if (exchange && (piece.length > 0 || piece.last)) {
      if (exchange.onRequestData(piece) === PENDING && this.#exchange) buffer.lent = true;
    }
    if (body.trailers && !body.active) this.#exchange?.onRequestTrailers(body.trailers);
  }

  /** The client's direction of the tunnel has ended. */
  endTunnelInput(): void {
    this.#exchange?.onRequestData(this.#worker.piece.clear(true));
  }

  /** The response may flow again. */
  drained(): void {
    this.#exchange?.onResponseDrain();
  }

  /** The exchange has heard its last when this returns. */
  lose(detail: string): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.onRequestAbort(detail);
  }

  /** Nothing more is asked of the head. */
  giveHead(): void {
    const head = this.#head;
    if (!head) return;
    this.#head = undefined;
    this.#worker.giveHead(head);
    this.#worker.count(counter.DOWNSTREAM_REQUESTS_ACTIVE, -1);
  }

  // — the exchange —

  sendInformational(head: ResponseHead): void {
    this.#response.informational(head);
  }

  sendHead(head: ResponseHead, piece: Piece): WriteOutcome {
    const requests = this.#requests;
    const response = this.#response;
    if (requests.phase !== SERVING) return FAILED;
    if (this.#worker.draining || this.#head?.close !== false) response.close = true;
    // RFC 9110 section 10.1.1: a client that was not told to continue may or may not send the body now.
    if (requests.continueDue || (piece.last && requests.isRestLong)) response.close = true;
    const outcome = response.head(head, piece);
    if (response.framing === FRAMING_TUNNEL) this.#openTunnel();
    return this.#written(outcome);
  }

  sendData(piece: Piece): WriteOutcome {
    if (this.#requests.phase !== SERVING) return FAILED;
    const outcome = this.#response.data(piece);
    if (piece.last && this.#response.framing === FRAMING_TUNNEL) this.#connection.onTunnelOutputEnd();
    return this.#written(outcome);
  }

  sendTrailers(fields: Fields): void {
    if (this.#requests.phase === SERVING) this.#written(this.#response.trailers(fields));
  }

  abort(): void {
    this.#connection.abort();
  }

  resumeBody(): void {
    const requests = this.#requests;
    if (requests.phase !== SERVING) return;
    requests.resume();
    if (requests.continueDue) {
      requests.continueDue = false;
      this.#response.continue();
    }
    this.#connection.onBodyWanted();
  }

  pauseBody(): void {
    this.#requests.held = true;
    this.#connection.onBodyHeld();
  }

  tunnelEnd(): TunnelEnd | undefined {
    return this.#connection.tunnelEnd();
  }

  release(): void {
    this.#exchange = undefined;
    this.#released = true;
    if (!this.#beginning) this.#connection.onReleased();
  }

  #isReleased(): boolean {
    return this.#released;
  }

  /** The exchange goes on after this turn of the event loop: it needs what lies in buffers that others use. */
  #keep(exchange: InboundExchange, head: RawRequestHead): void {
    const { body, buffer } = this.#requests;
    this.#exchange = exchange;
    head.retain();
    if (body.trailers) exchange.onRequestTrailers(body.trailers);
    if (body.active) buffer.take();
  }

  #openTunnel(): void {
    this.#requests.beginTunnel();
    this.#worker.count(counter.TUNNELS_ACTIVE, 1);
  }

  #written(outcome: WriteOutcome): WriteOutcome {
    this.#connection.onWritten(outcome);
    return outcome;
  }
}
