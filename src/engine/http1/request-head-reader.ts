import type { DownstreamContext } from '../exchange/downstream.js';
import { isForeignPreface } from '../http2/preface.js';
import type { Http1Worker } from './http1-worker.js';
import { parseRequestHead } from './parse-head.js';
import type { RawRequestHead } from './raw-heads.js';

/** More must come. */
export const MORE = 0;
/** The head is refused: `status` and `problem` say why. */
export const REFUSED = -1;
/** The connection speaks HTTP/2. */
export const HTTP2 = -2;
/** The connection speaks no HTTP at all: it is closed without an answer. */
export const FOREIGN = -3;

/** Looks at one unfinished head that are taken whatever little has come; then only for lines and larger parts. */
const EAGER_LOOKS = 32;
const CR = 13;
const LF = 10;
/** `PRI `: nothing but the preface of HTTP/2 begins so (RFC 9113 section 3.4). */
const PRI = 0x50524920;

/** Finds the heads of a connection's requests, one after the other, however they are cut into reads. */
export class RequestHeadReader {
  /** The head that was read. */
  head: RawRequestHead | undefined = undefined;
  status = 0;
  problem = '';
  /** Times that the unfinished head was looked at. */
  looks = 0;
  readonly #worker: Http1Worker;
  readonly #context: DownstreamContext;
  #skippedLine = false;
  /** No request came yet: the preface of HTTP/2 may. */
  #first = true;

  constructor(worker: Http1Worker, context: DownstreamContext) {
    this.#worker = worker;
    this.#context = context;
  }

  /**
   * Looks for a head at `buffer[start, end)`. Answers the offset behind it (with `head`), {@link MORE}, {@link REFUSED},
   * {@link HTTP2} or {@link FOREIGN}. An empty line alone before a head is consumed: `head` is undefined then.
   */
  read(buffer: Buffer, start: number, end: number): number {
    const worker = this.#worker;
    let at = start;
    this.head = undefined;
    if (buffer[at] === CR && !this.#skippedLine) {
      // RFC 9112 section 2.2: one empty line before a request is an old client's habit.
      if (at + 1 >= end) return MORE;
      if (buffer[at + 1] === LF) at += 2;
      if (at === end) {
        this.#skippedLine = true;
        return end;
      }
    }
    if (this.#first && worker.http2 && at + 4 <= end && buffer.readUInt32BE(at) === PRI) return HTTP2;
    // A head that dribbles in is parsed again for a whole line or a good part only: the work stays linear.
    const isWorthLooking = buffer[end - 1] === LF || (end - start) % 256 === 0;
    if (this.looks++ > EAGER_LOOKS && !isWorthLooking) return MORE;
    const head = worker.takeHead();
    head.scheme = this.#context.secure ? 'https' : 'http';
    head.trusted = this.#context.trusted;
    const behind = parseRequestHead(buffer, at, end, head);
    if (behind > 0) {
      this.head = head;
      this.looks = 0;
      this.#skippedLine = false;
      this.#first = false;
      return behind;
    }
    worker.giveHead(head);
    if (behind === 0) return MORE;
    this.status = -behind;
    this.problem = head.problem;
    return this.#first && isForeignPreface(buffer, at, end) ? FOREIGN : REFUSED;
  }
}
