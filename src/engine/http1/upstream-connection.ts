import * as counter from '../../telemetry/engine-counters.js';
import type { Fields } from '../exchange/fields.js';
import type { Piece } from '../exchange/piece.js';
import { Timer } from '../exchange/timer-wheel.js';
import type { TunnelCodec, TunnelEnd } from '../exchange/tunnel.js';
import type {
  OutboundRequest,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamStream,
} from '../exchange/upstream.js';
import {
  PENDING,
  type Connection,
  type ConnectionHandler,
  type WireError,
  type WriteOutcome,
} from '../wire/wire.js';
import type { Endpoint } from '../../ir/upstream.js';
import type { ConnectionOwner } from './connection-owner.js';
import type { Http1UpstreamWorker } from './http1-upstream-worker.js';
import type { RawResponseHead } from './raw-heads.js';
import { RequestWriter } from './request-writer.js';
import {
  AWAITING_HEAD,
  BODY,
  BODY_CLOSE,
  COMPLETE,
  HEAD,
  MALFORMED,
  ResponseReader,
  TUNNEL,
} from './response-reader.js';

const CONNECTING = 0;
const CONNECTED = 1;
const CLOSED = 2;

/**
 * How long an idle connection keeps its buffer, in ms: telling the wire of another one costs memory each time, so that
 * is not for connections in use.
 */
const WARM_MS = 2_000;

/** An HTTP/1.1 connection to a backend: one request at a time, idle in its pool between two. */
export class Http1UpstreamConnection extends Timer implements UpstreamStream, TunnelCodec {
  readonly endpoint: Endpoint;
  reused = false;
  readonly #worker: Http1UpstreamWorker;
  readonly #owner: ConnectionOwner;
  readonly #request: RequestWriter;
  readonly #response: ResponseReader;
  #wire: Connection | undefined;
  #state = CONNECTING;
  #handler: UpstreamHandler | undefined;
  /** How long it stays in the pool after it gave its buffer back. */
  #coldMs = 0;
  /** The handler has the last piece until it resumes us. */
  #lent = false;
  /** A call of the handler is running: our buffer may be in use. */
  #calling = false;
  /** `sendData` said `PENDING`. */
  #owesDrain = false;
  /** A request is in progress that the owner counts. */
  #busy = false;
  #ended = false;

  constructor(worker: Http1UpstreamWorker, owner: ConnectionOwner, endpoint: Endpoint) {
    super();
    this.#worker = worker;
    this.#owner = owner;
    this.endpoint = endpoint;
    this.#request = new RequestWriter(worker);
    this.#response = new ResponseReader(worker);
  }

  /** Seconds that the backend says it keeps it idle; 0: it does not say. */
  get keepAliveSeconds(): number {
    return this.#response.keepAliveSeconds;
  }

  get #isIdle(): boolean {
    return this.#state === CONNECTED && this.#response.phase === COMPLETE;
  }

  /** `connect` begins a connection with this as its handler. */
  connect(connect: (handler: ConnectionHandler) => Connection): void {
    this.#worker.count(counter.UPSTREAM_CONNECTIONS_ACTIVE, 1);
    this.#worker.count(counter.UPSTREAM_CONNECTIONS_TOTAL, 1);
    this.#wire = connect(this);
    this.#request.attach(this.#wire);
    this.#response.attach(this.#wire);
  }

  /** Sends a request; only when idle or connecting. */
  begin({ head, piece }: OutboundRequest, handler: UpstreamHandler): void {
    this.#busy = true;
    this.#handler = handler;
    this.#response.expect(head);
    if (this.#state === CONNECTED) {
      this.reused = true;
      this.#worker.wheel.disarm(this);
      this.#response.takeBuffer();
    }
    this.#request.begin(head, piece);
  }

  /** In the pool: waits for the next request for `ms`, soon without a buffer of its own. */
  park(ms: number): void {
    this.#coldMs = Math.max(ms - WARM_MS, 0);
    this.#worker.wheel.arm(this, Math.min(ms, WARM_MS));
  }

  /** Closes an idle connection, or marks a busy one to be closed after its response. */
  retire(): void {
    if (this.#isIdle) this.#destroy();
    else this.#response.keeps = false;
  }

  /** Ends at once: a request in progress fails. */
  close(): void {
    if (this.#handler) this.#fail('truncated', 'the gateway closes its connections');
    else this.#destroy();
  }

  // — the exchange —

  sendData(piece: Piece): WriteOutcome {
    const outcome = this.#request.data(piece);
    if (outcome === PENDING) this.#owesDrain = true;
    if (this.#response.phase === TUNNEL && piece.last) this.#endTunnelOutput();
    return outcome;
  }

  sendTrailers(fields: Fields): void {
    this.#request.trailers(fields);
  }

  resume(): void {
    if (!this.#lent) return;
    this.#lent = false;
    if (this.#state !== CLOSED) this.#wire?.resume();
  }

  tunnelEnd(): TunnelEnd | undefined {
    const { pending, done } = this.#request;
    const isOpen = this.#response.phase === TUNNEL && !done && !this.#ended;
    const isStill = !this.#lent && !pending;
    return isOpen && isStill && this.#wire ? { connection: this.#wire, codec: this } : undefined;
  }

  holdReading(): void {
    this.#lent = true;
    this.#wire?.pause();
  }

  awaitDrain(): void {
    this.#request.pending = true;
    this.#owesDrain = true;
  }

  abort(): void {
    this.#handler = undefined;
    this.#destroy();
  }

  // — the backend —

  onConnect(): void {
    if (this.#state !== CONNECTING) return;
    this.#state = CONNECTED;
    this.#response.takeBuffer();
    this.#wire?.resume();
    this.#request.flush();
    this.#settleDrain();
  }

  onSecure(): void {
    // `onConnect` comes after the handshake.
  }

  onDrain(): void {
    this.#request.pending = false;
    this.#settleDrain();
  }

  onRead(_buffer: Buffer, length: number): void {
    const handler = this.#handler;
    if (!handler) {
      // Bytes that nobody asked for would be the answer to the next request of somebody else.
      this.#worker.count(counter.UPSTREAM_POISONED_TOTAL, 1);
      this.#destroy();
      return;
    }
    const { head, piece } = this.#worker;
    switch (this.#response.read(length, handler)) {
      case HEAD:
        if (this.#response.phase === TUNNEL) this.#request.beginTunnel();
        this.#deliver(head, piece);
        return;
      case BODY:
        this.#deliver(undefined, piece);
        return;
      case MALFORMED:
        this.#fail('protocol', this.#response.problem);
        return;
      default:
      // More must come, or the handler has given up.
    }
  }

  onEnd(): void {
    this.#ended = true;
    const { phase, begun } = this.#response;
    switch (phase) {
      case AWAITING_HEAD:
        if (begun) this.#fail('protocol', 'the backend closed within the head of the response');
        else this.#fail('early', 'the backend closed before the response');
        return;
      case BODY_CLOSE:
        this.#response.complete();
        this.#deliver(undefined, this.#worker.piece.clear(true));
        return;
      case TUNNEL:
        this.#handler?.onUpstreamData(this.#worker.piece.clear(true));
        this.#closeTunnel();
        return;
      case COMPLETE:
        this.#destroy();
        return;
      default:
        this.#fail('truncated', 'the backend closed within the response');
    }
  }

  onClose(error: WireError | undefined): void {
    if (this.#state === CLOSED) return;
    const code = error?.code ?? 'closed';
    if (this.#state === CONNECTING) this.#fail(this.#owner.kindOf(error), error?.message ?? code);
    else if (this.#isIdle) this.#destroy();
    else if (!this.#response.begun) this.#fail('early', code);
    else this.#fail('truncated', code);
  }

  /** Idle for too long. */
  override expire(): void {
    if (!this.#isIdle) return;
    if (this.#coldMs > 0) this.#cool();
    else this.#destroy();
  }

  #cool(): void {
    this.#worker.wheel.arm(this, this.#coldMs);
    this.#coldMs = 0;
    this.#response.giveBuffer();
  }

  // — the response —

  /** Passes a piece on, and a head before it. */
  #deliver(head: RawResponseHead | undefined, piece: Piece): void {
    const handler = this.#handler;
    if (!handler) return;
    const isOver = this.#response.phase === COMPLETE;
    const trailers = isOver && !piece.last ? this.#response.trailers : undefined;
    if (!head && piece.length === 0 && !isOver) return;
    if (isOver && !trailers) this.#handler = undefined;
    this.#calling = true;
    let outcome = head ? handler.onUpstreamHead(head, piece) : handler.onUpstreamData(piece);
    if (trailers && this.#handler) {
      this.#handler = undefined;
      handler.onUpstreamTrailers(trailers);
      // Whether its bytes were taken is no longer known.
      outcome = PENDING;
    }
    this.#calling = false;
    if (isOver) this.#complete(outcome);
    else if (outcome === PENDING && this.#handler) this.holdReading();
  }

  /** The request in progress no longer counts. */
  #over(): void {
    if (!this.#busy) return;
    this.#busy = false;
    this.#owner.onRequestOver();
  }

  #complete(outcome: WriteOutcome): void {
    this.#over();
    if (this.#state !== CONNECTED) return;
    if (outcome === PENDING) this.#response.leaveBuffer();
    const { done, pending } = this.#request;
    if (!this.#response.keeps || this.#ended || !done || pending) {
      this.#destroy();
      return;
    }
    this.#response.takeBuffer();
    this.#owner.onIdle(this);
  }

  #fail(kind: UpstreamFailure['kind'], detail: string): void {
    const handler = this.#handler;
    this.#handler = undefined;
    this.#destroy();
    handler?.onUpstreamFailure({ kind, detail });
  }

  // — ends —

  #endTunnelOutput(): void {
    this.#wire?.end();
    this.#closeTunnel();
  }

  /** Both directions have ended: what is still to be written leaves first. */
  #closeTunnel(): void {
    if (!this.#ended || !this.#request.done) return;
    this.#handler = undefined;
    if (!this.#request.pending) this.#destroy();
  }

  #settleDrain(): void {
    if (this.#request.pending) return;
    if (this.#owesDrain) {
      this.#owesDrain = false;
      this.#handler?.onUpstreamDrain();
    } else if (this.#response.phase === TUNNEL) this.#closeTunnel();
  }

  #destroy(): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#worker.wheel.remove(this);
    this.#worker.count(counter.UPSTREAM_CONNECTIONS_ACTIVE, -1);
    this.#wire?.destroy();
    this.#response.stop(!this.#calling && !this.#lent);
    this.#over();
    this.#owner.onGone(this);
  }
}
