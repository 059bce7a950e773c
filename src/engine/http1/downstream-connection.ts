import * as counter from '../../telemetry/engine-counters.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import { Timer } from '../exchange/timer-wheel.js';
import type { TunnelCodec, TunnelEnd } from '../exchange/tunnel.js';
import { FAILED, PENDING } from '../wire/wire.js';
import type { Connection, WireError, WriteOutcome } from '../wire/wire.js';
import { Http1DownstreamStream, type StreamConnection } from './downstream-stream.js';
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
import { FRAMING_CLOSE } from './response-encoder.js';
import { ResponseWriter } from './response-writer.js';

/**
 * A client's HTTP/1.1 connection: requests one after the other (RFC 9112 section 9.3.2), each handed to the runner.
 *
 * In: bytes. Out: exchanges, and their responses in order. It must not know routes, filters or backends.
 */
export class Http1DownstreamConnection extends Timer implements StreamConnection, TunnelCodec {
  readonly context: DownstreamContext;
  readonly #worker: Http1Worker;
  readonly #wire: Connection;
  readonly #requests: RequestReader;
  readonly #response: ResponseWriter;
  readonly #stream: Http1DownstreamStream;
  /** Within {@link #process}: what would begin the next request is left to it. */
  #busy = false;
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
    this.#stream = new Http1DownstreamStream(this, worker, this.#requests, this.#response);
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
      if (this.#requests.body.tunnel) this.#stream.endTunnelInput();
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
      this.#stream.drained();
    } else if (this.#ended) this.#wire.destroy();
    else if (this.#requests.phase === AWAITING_HEAD) this.#goOn();
  }

  onClose(error: WireError | undefined): void {
    if (this.#requests.phase === CLOSED) return;
    this.#leave();
    this.#stream.lose(error ? `the client's connection failed: ${error.code}` : 'the client closed');
  }

  override expire(): void {
    const { phase, buffer } = this.#requests;
    const { pending } = this.#response;
    if (phase === SERVING) {
      this.#lose(pending ? 'the client does not read' : 'the body of the request stalled', 408);
    } else if (phase === AWAITING_HEAD && buffer.ahead && !pending) {
      this.#worker.count(counter.DOWNSTREAM_HEAD_TIMEOUTS, 1);
      this.#refuse(408, 'the head of the request took too long');
    } else if (phase !== CLOSED) this.#wire.destroy();
  }

  // — the request in progress —

  abort(): void {
    if (this.#requests.phase === CLOSED) return;
    // An end of the connection would pass for the end of such a body.
    if (this.#response.framing === FRAMING_CLOSE) this.#wire.reset();
    else this.#wire.destroy();
  }

  onBodyWanted(): void {
    this.#armForExchange();
    if (!this.#busy) this.#goOn();
  }

  onBodyHeld(): void {
    if (!this.#busy) this.#requests.setReading();
  }

  onWritten(outcome: WriteOutcome): void {
    if (outcome === PENDING) this.#worker.wheel.arm(this, this.#worker.timeouts.writeMs);
    else if (outcome === FAILED) this.abort();
  }

  onTunnelOutputEnd(): void {
    this.#wire.end();
  }

  onReleased(): void {
    this.#afterExchange();
    if (!this.#busy) this.#goOn();
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
    this.onWritten(PENDING);
  }

  // — what came —

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
        this.#stream.passBody();
        this.#armForExchange();
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
    this.#final = head.close && !head.chunked && head.contentLength <= 0;
    this.#worker.wheel.disarm(this);
    if (this.#stream.begin(head)) this.#armForExchange();
    else this.#afterExchange();
  }

  #afterExchange(): void {
    this.#stream.giveHead();
    const { phase, body, buffer } = this.#requests;
    if (phase !== SERVING) return;
    buffer.abandon();
    if (body.tunnel) {
      // What the head said of bytes behind it was not said of the tunnel's.
      this.#final = false;
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
    const isSilent = status === 0 || this.#response.begun || this.#response.pending;
    this.#requests.phase = LINGERING;
    this.#stopBody();
    this.#stream.lose(detail);
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

  #armForExchange(): void {
    const { wheel, timeouts } = this.#worker;
    const requests = this.#requests;
    if (requests.phase !== SERVING) return;
    if (this.#response.pending) wheel.arm(this, timeouts.writeMs);
    else if (requests.flows && !requests.body.tunnel) wheel.arm(this, timeouts.bodyMs);
    else wheel.disarm(this);
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
