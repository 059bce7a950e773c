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
import { HEADROOM, type PooledBuffer } from '../wire/buffer-pool.js';
import { ChunkedDecoder } from './chunked-decoder.js';
import type { ConnectionOwner } from './connection-owner.js';
import type { Http1UpstreamWorker } from './http1-upstream-worker.js';
import { parseResponseHead } from './parse-head.js';
import { MAX_HEAD_BYTES, type RawResponseHead } from './raw-heads.js';
import { RequestWriter } from './request-writer.js';

const CONNECTING = 0;
const IDLE = 1;
const AWAITING_HEAD = 2;
const BODY_LENGTH = 3;
const BODY_CHUNKED = 4;
/** Until the backend closes (RFC 9112 section 6.3, last case). */
const BODY_CLOSE = 5;
const TUNNEL = 6;
const CLOSED = 7;

/**
 * How long an idle connection keeps its buffer, in ms: telling the wire of another one costs memory each time, so that
 * is not for connections in use.
 */
const WARM_MS = 2_000;
/** Interim responses to one request that are borne. */
const MAX_INTERIM = 32;

/**
 * An HTTP/1.1 connection to a backend: one request at a time. Its buffer is its own, with room before the bytes for a
 * rewritten head, and is given away when the client's side keeps it.
 */
export class Http1UpstreamConnection extends Timer implements UpstreamStream, TunnelCodec {
  readonly endpoint: Endpoint;
  reused = false;
  readonly #worker: Http1UpstreamWorker;
  readonly #owner: ConnectionOwner;
  readonly #request: RequestWriter;
  #wire: Connection | undefined;
  #state = CONNECTING;
  #handler: UpstreamHandler | undefined;
  #buffer: PooledBuffer | undefined;
  /** Bytes of an unfinished head at the start of the buffer. */
  #filled = 0;
  #left = 0;
  #decoder: ChunkedDecoder | undefined;
  #isHead = false;
  #asksUpgrade = false;
  /** The backend keeps the connection after this response. */
  #keeps = false;
  /** Seconds that the backend says it keeps it idle; 0: it does not say. */
  keepAliveSeconds = 0;
  /** How long it stays in the pool after it gave its buffer back. */
  #coldMs = 0;
  /** The handler has the last piece until it resumes us. */
  #lent = false;
  /** A call of the handler is running: our buffer may be in use. */
  #calling = false;
  /** `sendData` said `PENDING`. */
  #owesDrain = false;
  #busy = false;
  #opening = false;
  #interim = 0;
  #ended = false;

  constructor(worker: Http1UpstreamWorker, owner: ConnectionOwner, endpoint: Endpoint) {
    super();
    this.#worker = worker;
    this.#owner = owner;
    this.endpoint = endpoint;
    this.#request = new RequestWriter(worker);
  }

  /** `connect` begins a connection with this as its handler. */
  connect(connect: (handler: ConnectionHandler) => Connection): void {
    this.#worker.count(counter.UPSTREAM_CONNECTIONS_ACTIVE, 1);
    this.#worker.count(counter.UPSTREAM_CONNECTIONS_TOTAL, 1);
    this.#wire = connect(this);
    this.#request.attach(this.#wire);
  }

  /** Sends a request; only when idle or connecting. */
  begin({ head, piece }: OutboundRequest, handler: UpstreamHandler): void {
    this.#opening = true;
    this.#busy = true;
    this.#handler = handler;
    this.#isHead = head.method === 'HEAD';
    this.#asksUpgrade = head.upgrade !== '';
    this.#interim = 0;
    this.#keeps = false;
    if (this.#state === IDLE) {
      this.reused = true;
      this.#state = AWAITING_HEAD;
      this.#worker.wheel.disarm(this);
      this.#takeBuffer();
    }
    this.#request.begin(head, piece);
    this.#opening = false;
  }

  /** In the pool: waits for the next request for `ms`, soon without a buffer of its own. */
  park(ms: number): void {
    this.#coldMs = Math.max(ms - WARM_MS, 0);
    this.#worker.wheel.arm(this, Math.min(ms, WARM_MS));
  }

  /** Closes an idle connection, or marks a busy one to be closed after its response. */
  retire(): void {
    if (this.#state === IDLE) this.#destroy();
    else this.#keeps = false;
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
    if (this.#state === TUNNEL && piece.last) this.#endTunnelOutput();
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
    const isIdle = this.#state === TUNNEL && !this.#lent && !pending && !done && !this.#ended;
    return isIdle && this.#wire ? { connection: this.#wire, codec: this } : undefined;
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
    this.#state = AWAITING_HEAD;
    this.#takeBuffer();
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
    const own = this.#buffer;
    if (!own || !this.#handler) {
      // Bytes that nobody asked for would be the answer to the next request of somebody else.
      this.#worker.count(counter.UPSTREAM_POISONED_TOTAL, 1);
      this.#destroy();
      return;
    }
    const { full } = own;
    const end = HEADROOM + this.#filled + length;
    if (this.#state === AWAITING_HEAD) {
      this.#readHead(own, full, end);
      return;
    }
    const { piece } = this.#worker;
    const behind = this.#cut(own, HEADROOM, end, piece);
    if (behind < 0) this.#fail('protocol', this.#decoder?.problem ?? '');
    else this.#deliver(undefined, piece, end - behind);
  }

  onEnd(): void {
    this.#ended = true;
    switch (this.#state) {
      case AWAITING_HEAD:
        if (this.#filled > 0) this.#fail('protocol', 'the backend closed within the head of the response');
        else this.#fail('early', 'the backend closed before the response');
        return;
      case BODY_LENGTH:
      case BODY_CHUNKED:
        this.#fail('truncated', 'the backend closed within the response');
        return;
      case BODY_CLOSE:
        this.#keeps = false;
        this.#state = IDLE;
        this.#deliver(undefined, this.#worker.piece.clear(true), 0);
        return;
      case TUNNEL:
        this.#handler?.onUpstreamData(this.#worker.piece.clear(true));
        this.#closeTunnel();
        return;
      default:
        this.#destroy();
    }
  }

  onClose(error: WireError | undefined): void {
    if (this.#state === CLOSED) return;
    const state = this.#state;
    const code = error?.code ?? 'closed';
    if (this.#opening) {
      // The handler is not to be called before `open` returned.
      queueMicrotask(() => {
        this.onClose(error);
      });
      return;
    }
    if (state === CONNECTING) this.#fail(this.#owner.kindOf(error), error?.message ?? code);
    else if (state === AWAITING_HEAD && this.#filled === 0) this.#fail('early', code);
    else if (state === IDLE) this.#destroy();
    else this.#fail('truncated', code);
  }

  /** Idle for too long. */
  override expire(): void {
    if (this.#state === IDLE && this.#coldMs > 0) this.#cool();
    else if (this.#state === IDLE) this.#destroy();
  }

  #cool(): void {
    this.#worker.wheel.arm(this, this.#coldMs);
    this.#coldMs = 0;
    if (this.#buffer) this.#worker.buffers.release(this.#buffer);
    this.#buffer = undefined;
    this.#wire?.readInto(this.#worker.trap);
  }

  // — the response —

  #readHead(own: PooledBuffer, full: Buffer, end: number): void {
    const { head, piece } = this.#worker;
    let at = HEADROOM;
    for (;;) {
      const behind = parseResponseHead(full, at, end, head);
      if (behind < 0) {
        this.#fail('protocol', head.problem);
        return;
      }
      if (behind === 0) {
        this.#awaitMore(own, at, end);
        return;
      }
      at = behind;
      if (head.status >= 200 || head.status === 101) break;
      if (!this.#passInterim(head)) return;
      if (at === end) {
        this.#awaitMore(own, at, end);
        return;
      }
    }
    if (this.#filled > 0) {
      this.#filled = 0;
      this.#wire?.readInto(own.landing);
    }
    if (!this.#beginBody(head)) {
      this.#fail('protocol', head.problem);
      return;
    }
    const behind = this.#cut(own, at, end, piece);
    if (behind < 0) this.#fail('protocol', this.#decoder?.problem ?? '');
    else this.#deliver(head, piece, end - behind);
  }

  /** An unfinished head is moved to the start of the buffer, and more is read behind it. */
  #awaitMore(own: PooledBuffer, at: number, end: number): void {
    const length = end - at;
    if (length >= MAX_HEAD_BYTES) {
      this.#fail('protocol', 'the head of the response is too large');
      return;
    }
    if (at > HEADROOM) own.full.copyWithin(HEADROOM, at, end);
    if (length === 0 && this.#filled === 0) return;
    this.#filled = length;
    this.#wire?.readInto(length === 0 ? own.landing : own.landing.subarray(length));
  }

  /** False: the request is over. */
  #passInterim(head: RawResponseHead): boolean {
    if (++this.#interim > MAX_INTERIM) {
      this.#fail('protocol', 'too many interim responses');
      return false;
    }
    // 100 is of this hop: whether the client was told to continue is our business (RFC 9110 section 10.1.1).
    if (head.status !== 100) this.#handler?.onUpstreamInformational(head);
    return this.#state === AWAITING_HEAD;
  }

  /** Finds how the body ends (RFC 9112 section 6.3). False: it cannot be known. */
  #beginBody(head: RawResponseHead): boolean {
    const { status } = head;
    this.#keeps = !head.close;
    this.keepAliveSeconds = head.keepAliveSeconds;
    if (status === 101) {
      if (!this.#asksUpgrade || !head.upgrade) {
        head.problem = 'the backend upgraded unasked';
        return false;
      }
      this.#state = TUNNEL;
      this.#request.beginTunnel();
    } else if (this.#isHead || status === 204 || status === 304) {
      this.#state = BODY_LENGTH;
      this.#left = 0;
    } else if (head.chunked) {
      this.#state = BODY_CHUNKED;
      this.#decoder ??= new ChunkedDecoder();
      this.#decoder.reset();
    } else if (head.contentLength >= 0) {
      this.#state = BODY_LENGTH;
      this.#left = head.contentLength;
    } else {
      this.#state = BODY_CLOSE;
      this.#keeps = false;
    }
    return true;
  }

  /** Makes `piece` the payload of `own.full[start, end)`; answers the offset behind what belongs to the response, or -1. */
  #cut(own: PooledBuffer, start: number, end: number, piece: Piece): number {
    let from = start;
    let to = end;
    let behind = end;
    let last = false;
    if (this.#state === BODY_LENGTH) {
      behind = to = Math.min(end, start + this.#left);
      this.#left -= to - start;
      last = this.#left === 0;
      if (last) this.#state = IDLE;
    } else if (this.#state === BODY_CHUNKED && this.#decoder) {
      behind = this.#decoder.decode(own.full, start, end);
      if (behind < 0) return -1;
      from = this.#decoder.from;
      to = this.#decoder.to;
      if (this.#decoder.done) {
        this.#state = IDLE;
        last = !this.#decoder.trailers;
      }
    }
    // Everything before was consumed (a head that lies there is written before the room is used), and what comes behind
    // is of no use to anybody.
    piece.setPooled(own, from, to, last);
    return behind;
  }

  /** Passes a piece on. The response is complete when the state has become idle. */
  #deliver(head: RawResponseHead | undefined, piece: Piece, extra: number): void {
    const handler = this.#handler;
    if (!handler) return;
    const isOver = this.#state === IDLE;
    const trailers = isOver && !piece.last ? this.#decoder?.trailers : undefined;
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
    if (isOver) this.#complete(outcome, extra);
    else if (outcome === PENDING && this.#handler) this.holdReading();
  }

  /** The request in progress no longer counts. */
  #over(): void {
    if (!this.#busy) return;
    this.#busy = false;
    this.#owner.onRequestOver();
  }

  #complete(outcome: WriteOutcome, extra: number): void {
    this.#over();
    if (this.#state !== IDLE) return;
    if (outcome === PENDING) {
      // The client's side has the bytes: the buffer is theirs now (`Piece.pooled`).
      this.#buffer = undefined;
    }
    if (!this.#keeps || extra > 0 || this.#ended || !this.#request.done || this.#request.pending) {
      this.#destroy();
      return;
    }
    this.#takeBuffer();
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
    if (!this.#owesDrain) {
      if (this.#state === TUNNEL) this.#closeTunnel();
      return;
    }
    this.#owesDrain = false;
    this.#handler?.onUpstreamDrain();
  }

  #takeBuffer(): void {
    if (this.#buffer) return;
    this.#buffer = this.#worker.buffers.acquire();
    this.#wire?.readInto(this.#buffer.landing);
  }

  #destroy(): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#worker.wheel.remove(this);
    this.#worker.count(counter.UPSTREAM_CONNECTIONS_ACTIVE, -1);
    this.#wire?.destroy();
    const own = this.#buffer;
    this.#buffer = undefined;
    // A buffer that somebody may still use is left to the collector.
    if (own && !this.#calling && !this.#lent) this.#worker.buffers.release(own);
    this.#over();
    this.#owner.onGone(this);
  }
}
