import type { DownstreamContext } from '../exchange/downstream.js';
import { isForeignPreface } from '../http2/preface.js';
import type { Connection } from '../wire/wire.js';
import type { Http1Worker } from './http1-worker.js';
import { InboundBuffer } from './inbound-buffer.js';
import { parseRequestHead } from './parse-head.js';
import type { RawRequestHead } from './raw-heads.js';
import { RequestBody } from './request-body.js';

/** What the bytes that come are: the head of the next request, */
export const AWAITING_HEAD = 0;
/** the body of the request in progress, or what the client sends ahead of its turn, */
export const SERVING = 1;
/** what is left of a body whose response is complete: it is read and dropped, */
export const DISCARDING = 2;
/** of no use: the last response was sent, and the client is given time to read it, */
export const LINGERING = 3;
/** or not ours to read any more. */
export const CLOSED = 4;

/** Nothing can be done now; also {@link HEAD_BEGUN} and what follows a last event. */
export const NOTHING = 0;
/** A first part of a head has come. */
export const HEAD_BEGUN = -1;
/** A request: its head is {@link RequestReader.head}, what came of its body is the worker's piece. */
export const REQUEST = 1;
/** The worker's piece is more of its body. */
export const BODY = 2;
/** The framing of its body is broken: `problem` says how. */
export const BROKEN_BODY = 3;
/** The rest of a body was dropped: the next head may come. */
export const DISCARDED = 4;
/** The rest of a body is not worth the reading. */
export const ENDLESS = 5;
/** No request that is served: `status` and `problem` say why. */
export const BAD_REQUEST = 6;
/** No HTTP at all, likewise: the connection is closed without an answer. */
export const NO_HTTP = 7;
/** The connection speaks HTTP/2: {@link InboundBuffer.takeRest} has what came. */
export const PREFACE = 8;
export type ReadEvent =
  | typeof NOTHING
  | typeof HEAD_BEGUN
  | typeof REQUEST
  | typeof BODY
  | typeof BROKEN_BODY
  | typeof DISCARDED
  | typeof ENDLESS
  | typeof BAD_REQUEST
  | typeof NO_HTTP
  | typeof PREFACE;

/** What a client may send ahead of its turn before we stop reading. */
const MAX_AHEAD_BYTES = 64 * 1024;
/** What we read of a body that nobody wants, to keep the connection. */
const MAX_DISCARDED_BYTES = 256 * 1024;
/** Looks at one unfinished head that are taken whatever little has come; then only for lines and larger parts. */
const EAGER_LOOKS = 32;
const CR = 13;
const LF = 10;
/** `PRI `: nothing but the preface of HTTP/2 begins so (RFC 9113 section 3.4). */
const PRI = 0x50524920;

/**
 * The request direction of a client connection: cuts what comes into heads and pieces of bodies, keeps what comes ahead of
 * its turn, and reads only as long as somebody wants it. What follows from that is the connection's business.
 */
export class RequestReader {
  phase = AWAITING_HEAD;
  /** The last head that was read. */
  head: RawRequestHead | undefined = undefined;
  status = 0;
  problem = '';
  /** The exchange does not want the body now. */
  held = false;
  /** The client waits to be told to send the body. */
  continueDue = false;
  readonly body = new RequestBody();
  readonly buffer: InboundBuffer;
  readonly #worker: Http1Worker;
  readonly #context: DownstreamContext;
  /** Times that the unfinished head was looked at. */
  #looks = 0;
  #skippedLine = false;
  /** No request came yet: the preface of HTTP/2 may. */
  #first = true;
  #discarded = 0;

  constructor(worker: Http1Worker, wire: Connection, context: DownstreamContext) {
    this.#worker = worker;
    this.buffer = new InboundBuffer(worker, wire);
    this.#context = context;
  }

  /** The next bytes of the body are wanted. */
  get flows(): boolean {
    return this.body.active && !this.held && !this.buffer.lent;
  }

  /** So much is left of the body that it will not be read only to keep the connection. */
  get isRestLong(): boolean {
    return this.body.left > MAX_DISCARDED_BYTES;
  }

  /**
   * Goes on in what was read, until there is {@link NOTHING} or {@link HEAD_BEGUN}. `mayBegin`: the response before has left,
   * so that another request may begin.
   */
  next(mayBegin: boolean): ReadEvent {
    const { buffer } = this;
    if (buffer.from === buffer.to) return NOTHING;
    switch (this.phase) {
      case AWAITING_HEAD:
        return mayBegin ? this.#readHead() : NOTHING;
      case SERVING:
        return this.flows ? this.#readBody() : NOTHING;
      case DISCARDING:
        return this.#dropBody();
      default:
        buffer.skip();
        return NOTHING;
    }
  }

  /** Nothing can be done with the rest now: it is kept until its turn comes, and the buffer given back unless it is needed. */
  pause(): void {
    if (this.phase < LINGERING) this.buffer.keepRest();
    else this.buffer.skip();
    this.settleBuffer();
  }

  /** The exchange wants the body (again), and has done with the piece before. */
  resume(): void {
    this.held = false;
    this.buffer.lent = false;
  }

  /** Both directions become a tunnel. The exchange lets the client's bytes flow when it is ready for them. */
  beginTunnel(): void {
    this.body.beginTunnel();
    this.held = true;
    this.buffer.take();
  }

  /** Nobody wants the rest of the body. */
  discard(): void {
    this.#discarded = 0;
    this.held = false;
    this.phase = DISCARDING;
  }

  /** Nobody wants anything that comes, or came ahead of its turn. */
  linger(): void {
    this.phase = LINGERING;
    this.buffer.ahead = undefined;
  }

  /** The wire is no longer ours. */
  leave(): void {
    this.phase = CLOSED;
    this.buffer.leave();
  }

  /** Reads or not, as the phase wants. While a response is awaited reading goes on, to notice that the client leaves. */
  setReading(): void {
    if (this.phase === CLOSED) return;
    const isBodyTurn = this.phase === SERVING && this.body.active;
    this.buffer.setReading(isBodyTurn ? this.flows : (this.buffer.ahead?.length ?? 0) <= MAX_AHEAD_BYTES);
  }

  /** Gives the own buffer back when nothing of it is needed any more. */
  settleBuffer(): void {
    if (this.phase !== SERVING || !this.body.active) this.buffer.giveBack();
  }

  #readHead(): ReadEvent {
    const { buffer } = this;
    const { bytes, to } = buffer;
    if (bytes[buffer.from] === CR && !this.#skippedLine) {
      // RFC 9112 section 2.2: one empty line before a request is an old client's habit.
      if (buffer.from + 1 >= to) return NOTHING;
      this.#skippedLine = bytes[buffer.from + 1] === LF;
      if (this.#skippedLine) buffer.from += 2;
      if (buffer.from === to) return NOTHING;
    }
    const start = buffer.from;
    if (this.#first && this.#worker.http2 && start + 4 <= to && bytes.readUInt32BE(start) === PRI)
      return PREFACE;
    // A head that dribbles in is parsed again for a whole line or a good part only: the work stays linear.
    const isWorthLooking = bytes[to - 1] === LF || (to - start) % 256 === 0;
    if (this.#looks++ > EAGER_LOOKS && !isWorthLooking) return NOTHING;
    return this.#parseHead();
  }

  #parseHead(): ReadEvent {
    const { bytes, from, to } = this.buffer;
    const head = this.#worker.takeHead();
    head.scheme = this.#context.secure ? 'https' : 'http';
    head.trusted = this.#context.trusted;
    const behind = parseRequestHead(bytes, from, to, head);
    if (behind > 0) return this.#begin(head, behind);
    this.#worker.giveHead(head);
    if (behind === 0) return this.#looks === 1 ? HEAD_BEGUN : NOTHING;
    const isForeign = this.#first && isForeignPreface(bytes, from, to);
    return this.#refuse(isForeign ? NO_HTTP : BAD_REQUEST, -behind, head.problem);
  }

  #begin(head: RawRequestHead, behindHead: number): ReadEvent {
    const { body, buffer } = this;
    this.#looks = 0;
    this.#skippedLine = false;
    this.#first = false;
    body.begin(head);
    const behind = body.read(buffer.bytes, behindHead, buffer.to, this.#worker.piece);
    if (behind < 0) {
      this.#worker.giveHead(head);
      return this.#refuse(BAD_REQUEST, 400, body.problem);
    }
    buffer.from = behind;
    this.phase = SERVING;
    this.head = head;
    this.continueDue = head.expectContinue && behind === behindHead;
    this.held = this.continueDue;
    return REQUEST;
  }

  #refuse(event: ReadEvent, status: number, problem: string): ReadEvent {
    this.buffer.skip();
    this.status = status;
    this.problem = problem;
    return event;
  }

  #readBody(): ReadEvent {
    const { body, buffer } = this;
    const { piece } = this.#worker;
    const behind = body.read(buffer.bytes, buffer.from, buffer.to, piece);
    if (behind < 0) return this.#refuse(BROKEN_BODY, 400, body.problem);
    buffer.from = behind;
    if (behind === buffer.to) buffer.giveRoom(piece);
    return BODY;
  }

  #dropBody(): ReadEvent {
    const { body, buffer } = this;
    const behind = body.read(buffer.bytes, buffer.from, buffer.to, this.#worker.piece);
    this.#discarded += buffer.to - buffer.from;
    if (behind < 0 || this.#discarded > MAX_DISCARDED_BYTES) {
      buffer.skip();
      return ENDLESS;
    }
    buffer.from = behind;
    return body.active ? NOTHING : DISCARDED;
  }
}
