import type { FieldList } from '../exchange/fields.js';
import type { RequestHead } from '../exchange/heads.js';
import type { UpstreamHandler } from '../exchange/upstream.js';
import { HEADROOM, type PooledBuffer } from '../wire/buffer-pool.js';
import type { Connection } from '../wire/wire.js';
import { ChunkedDecoder } from './chunked-decoder.js';
import type { Http1UpstreamWorker } from './http1-upstream-worker.js';
import { parseResponseHead } from './parse-head.js';
import { MAX_HEAD_BYTES, type RawResponseHead } from './raw-heads.js';

/** Nothing is expected: no request was sent, or its response is complete, or given up. */
export const COMPLETE = 0;
export const AWAITING_HEAD = 1;
export const BODY_LENGTH = 2;
export const BODY_CHUNKED = 3;
/** Until the backend closes (RFC 9112 section 6.3, last case). */
export const BODY_CLOSE = 4;
export const TUNNEL = 5;

/** What a read has brought: nothing to pass on, */
export const NOTHING = 0;
/** the final head with the first piece, */
export const HEAD = 1;
/** another piece, */
export const BODY = 2;
/** or what is no HTTP: `problem` says why. */
export const MALFORMED = 3;
export type Progress = typeof NOTHING | typeof HEAD | typeof BODY | typeof MALFORMED;

/** Interim responses to one request that are borne. */
const MAX_INTERIM = 32;

type InterimHandler = Pick<UpstreamHandler, 'onUpstreamInformational'>;

/**
 * The response direction of a connection to a backend, however it is cut into reads. Heads and pieces are the worker's.
 * The buffer is the connection's own, with room before the bytes for a rewritten head.
 */
export class ResponseReader {
  /** What the next bytes are. */
  phase = COMPLETE;
  problem = '';
  /** The connection can serve another request after this response. */
  keeps = false;
  /** Seconds that the backend says it keeps it idle; 0: it does not say. */
  keepAliveSeconds = 0;
  readonly #worker: Http1UpstreamWorker;
  #wire: Connection | undefined;
  #buffer: PooledBuffer | undefined;
  /** Bytes of an unfinished head at the start of the buffer. */
  #filled = 0;
  #left = 0;
  #decoder: ChunkedDecoder | undefined;
  #isHead = false;
  #asksUpgrade = false;
  #interim = 0;

  constructor(worker: Http1UpstreamWorker) {
    this.#worker = worker;
  }

  attach(wire: Connection): void {
    this.#wire = wire;
  }

  /** Some of the response has come. */
  get begun(): boolean {
    return this.phase !== AWAITING_HEAD || this.#filled > 0;
  }

  /** Set when the response is complete but for its trailers. */
  get trailers(): FieldList | undefined {
    return this.#decoder?.trailers;
  }

  /** What comes next is the response to this request. */
  expect(request: RequestHead): void {
    this.phase = AWAITING_HEAD;
    this.keeps = true;
    this.#isHead = request.method === 'HEAD';
    this.#asksUpgrade = request.upgrade !== '';
    this.#interim = 0;
  }

  /** The end of the connection was the end of the body. */
  complete(): void {
    this.phase = COMPLETE;
  }

  /** Nothing more is read of it. The buffer is given back, unless somebody may still use it: then it is left to the collector. */
  stop(isBufferFree: boolean): void {
    this.phase = COMPLETE;
    const own = this.#buffer;
    this.#buffer = undefined;
    if (own && isBufferFree) this.#worker.buffers.release(own);
  }

  takeBuffer(): void {
    if (this.#buffer) return;
    this.#buffer = this.#worker.buffers.acquire();
    this.#wire?.readInto(this.#buffer.landing);
  }

  /** The client's side has the bytes of the last piece: the buffer is theirs now (`Piece.pooled`). */
  leaveBuffer(): void {
    this.#buffer = undefined;
  }

  /** Nothing is expected for long: the buffer is of more use to others. */
  giveBuffer(): void {
    if (this.#buffer) this.#worker.buffers.release(this.#buffer);
    this.#buffer = undefined;
    this.#wire?.readInto(this.#worker.trap);
  }

  /** `length` bytes have come; the handler hears of interim responses, and may give up. */
  read(length: number, handler: InterimHandler): Progress {
    const own = this.#buffer;
    if (!own) return NOTHING;
    const end = HEADROOM + this.#filled + length;
    if (this.phase === AWAITING_HEAD) return this.#readHead(own, end, handler);
    return this.#cut(own, HEADROOM, end) ? BODY : MALFORMED;
  }

  #readHead(own: PooledBuffer, end: number, handler: InterimHandler): Progress {
    const { head } = this.#worker;
    let at = HEADROOM;
    for (;;) {
      const behind = parseResponseHead(own.full, at, end, head);
      if (behind < 0) return this.#malformed(head.problem);
      if (behind === 0) return this.#awaitMore(own, at, end);
      at = behind;
      if (head.status >= 200 || head.status === 101) break;
      if (++this.#interim > MAX_INTERIM) return this.#malformed('too many interim responses');
      // 100 is of this hop: whether the client was told to continue is our business (RFC 9110 section 10.1.1).
      if (head.status !== 100) handler.onUpstreamInformational(head);
      if (this.phase !== AWAITING_HEAD) return NOTHING;
      if (at === end) return this.#awaitMore(own, at, end);
    }
    if (this.#filled > 0) {
      this.#filled = 0;
      this.#wire?.readInto(own.landing);
    }
    if (!this.#beginBody(head)) return this.#malformed('the backend upgraded unasked');
    return this.#cut(own, at, end) ? HEAD : MALFORMED;
  }

  #malformed(problem: string): typeof MALFORMED {
    this.problem = problem;
    return MALFORMED;
  }

  /** An unfinished head is moved to the start of the buffer, and more is read behind it. */
  #awaitMore(own: PooledBuffer, at: number, end: number): Progress {
    const length = end - at;
    if (length >= MAX_HEAD_BYTES) return this.#malformed('the head of the response is too large');
    if (at > HEADROOM) own.full.copyWithin(HEADROOM, at, end);
    if (length === 0 && this.#filled === 0) return NOTHING;
    this.#filled = length;
    this.#wire?.readInto(length === 0 ? own.landing : own.landing.subarray(length));
    return NOTHING;
  }

  /** Finds how the body ends (RFC 9112 section 6.3). False: an upgrade that nobody asked for. */
  #beginBody(head: RawResponseHead): boolean {
    const { status } = head;
    if (head.close) this.keeps = false;
    this.keepAliveSeconds = head.keepAliveSeconds;
    if (status === 101) {
      this.phase = TUNNEL;
      return this.#asksUpgrade && head.upgrade;
    }
    if (this.#isHead || status === 204 || status === 304) {
      this.phase = BODY_LENGTH;
      this.#left = 0;
    } else if (head.chunked) {
      this.phase = BODY_CHUNKED;
      this.#decoder ??= new ChunkedDecoder();
      this.#decoder.reset();
    } else if (head.contentLength >= 0) {
      this.phase = BODY_LENGTH;
      this.#left = head.contentLength;
    } else {
      this.phase = BODY_CLOSE;
      this.keeps = false;
    }
    return true;
  }

  /** Makes the worker's piece the payload of `own.full[start, end)`. */
  #cut(own: PooledBuffer, start: number, end: number): boolean {
    let from = start;
    let to = end;
    let behind = end;
    let last = false;
    if (this.phase === BODY_LENGTH) {
      behind = to = Math.min(end, start + this.#left);
      this.#left -= to - start;
      last = this.#left === 0;
      if (last) this.phase = COMPLETE;
    } else if (this.phase === BODY_CHUNKED && this.#decoder) {
      behind = this.#decoder.decode(own.full, start, end);
      if (behind < 0) {
        this.problem = this.#decoder.problem;
        return false;
      }
      from = this.#decoder.from;
      to = this.#decoder.to;
      if (this.#decoder.done) {
        this.phase = COMPLETE;
        last = !this.#decoder.trailers;
      }
    }
    // What comes behind is of no use to anybody, and of a backend that cannot be trusted with another request.
    if (behind < end) this.keeps = false;
    // Everything before was consumed: a head that lies there is written before the room is used.
    this.#worker.piece.setPooled(own, from, to, last);
    return true;
  }
}
