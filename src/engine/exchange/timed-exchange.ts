import { performance } from 'node:perf_hooks';
import type { Endpoint } from '../../ir/upstream.js';
import type { DownstreamContext, DownstreamStream } from './downstream.js';
import type { ExchangeRecord, Termination } from './exchange-record.js';
import type { ExchangeServices } from './exchange-services.js';
import type { RequestHead } from './heads.js';
import type { Piece } from './piece.js';
import { InboundBody, NO_BODY } from './inbound-body.js';
import type { BackendEntry, RouteEntry, RuleEntry } from './route-entry.js';
import { budgetOf } from './retry-budget.js';
import { Timer } from './timer-wheel.js';

/** The record of an exchange while it is written, and the points in time that it waits for. */
export abstract class TimedExchange implements ExchangeRecord {
  readonly context: DownstreamContext;
  request: RequestHead;
  readonly originalMethod: string;
  readonly originalAuthority: string;
  readonly originalPath: string;
  route: RouteEntry | undefined = undefined;
  rule: RuleEntry | undefined = undefined;
  backend: BackendEntry | undefined = undefined;
  endpoint: Endpoint | undefined = undefined;
  attempts = 0;
  status = 0;
  responseBytes = 0;
  readonly startedAt: number;
  upstreamStartedAt = 0;
  upstreamHeadAt = 0;
  responseHeadAt = 0;
  endedAt = 0;
  cacheResult = '';
  termination: Termination = 'complete';
  detail = '';
  /** Nothing that is sent arrives any more. */
  closed = false;

  protected readonly services: ExchangeServices;
  protected readonly body: InboundBody;
  /** The record was taken, though a fetch may go on. */
  protected recorded = false;
  /** Times of `performance.now()` in ms; 0: not awaited. */
  protected requestDue = 0;
  protected attemptDue = 0;
  protected headDue = 0;
  protected retryDue = 0;
  /** Made when something is awaited, which most exchanges never do. */
  #clock: ExchangeClock | undefined = undefined;

  constructor(services: ExchangeServices, stream: DownstreamStream, request: RequestHead, first: Piece) {
    this.services = services;
    this.context = stream.context;
    this.request = request;
    this.originalMethod = request.method;
    this.originalAuthority = request.authority;
    this.originalPath = request.path;
    this.startedAt = performance.now();
    // What follows an upgrade is counted as the body.
    const hasNone = first.last && first.length === 0 && request.upgrade === '';
    this.body = hasNone ? NO_BODY : new InboundBody(first);
  }

  get requestBytes(): number {
    return this.body.bytes;
  }

  /** The time of the whole request is over. */
  protected abstract requestTimedOut(): void;
  /** The time of the attempt is over, or its head did not come. */
  protected abstract attemptTimedOut(detail: string): void;
  /** The pause before a retry is over. */
  protected abstract retry(): void;

  protected record(termination: Termination, detail: string, now: number): void {
    if (this.recorded) return;
    this.recorded = true;
    this.termination = termination;
    this.detail = detail;
    this.endedAt = now;
    this.services.observer.onExchangeEnd(this);
  }

  protected count(cell: number, by: number): void {
    const { counters } = this.services;
    counters[cell] = (counters[cell] ?? 0) + by;
  }

  protected noteAttempt(now: number): void {
    if (this.attempts++ === 0) budgetOf(this.rule?.retry)?.noteRequest();
    this.upstreamStartedAt = now;
    this.#awaitAttempt(now);
  }

  #awaitAttempt(now: number): void {
    const backendMs = this.rule?.backendRequestMs ?? 0;
    const headMs = this.rule?.awaitHeadMs ?? 0;
    this.retryDue = 0;
    this.attemptDue = backendMs > 0 ? now + backendMs : 0;
    this.headDue = headMs > 0 ? now + headMs : 0;
    if (backendMs > 0 || headMs > 0) this.arm(now);
  }

  protected awaitRetry(now: number, ms: number): void {
    this.attemptDue = 0;
    this.headDue = 0;
    this.retryDue = now + ms;
    this.arm(now);
  }

  /** A head is awaited from the last byte of the request on. */
  protected requestSent(): void {
    if (this.headDue > 0) this.headDue = performance.now() + (this.rule?.awaitHeadMs ?? 0);
  }

  protected stopClock(): void {
    this.requestDue = 0;
    this.attemptDue = 0;
    this.headDue = 0;
    this.retryDue = 0;
    if (this.#clock) this.services.wheel.remove(this.#clock);
  }

  protected arm(now: number): void {
    let due = earlier(this.requestDue, this.attemptDue);
    due = earlier(due, this.headDue);
    due = earlier(due, this.retryDue);
    if (due > 0) this.services.wheel.arm((this.#clock ??= new ExchangeClock(this)), Math.max(due - now, 0));
  }

  /** Something that was awaited may be due. */
  expire(): void {
    if (this.closed) return;
    const now = performance.now();
    if (isDue(this.requestDue, now)) this.requestTimedOut();
    else if (isDue(this.retryDue, now)) {
      this.retryDue = 0;
      this.retry();
    } else if (isDue(this.attemptDue, now)) this.attemptTimedOut('the backend took too long');
    else if (isDue(this.headDue, now) && this.body.done) this.attemptTimedOut('the backend does not answer');
    else {
      // The request is still on its way.
      if (isDue(this.headDue, now)) this.headDue = now + (this.rule?.awaitHeadMs ?? 0);
      this.arm(now);
    }
  }
}

class ExchangeClock extends Timer {
  readonly #exchange: TimedExchange;

  constructor(exchange: TimedExchange) {
    super();
    this.#exchange = exchange;
  }

  override expire(): void {
    this.#exchange.expire();
  }
}

function isDue(due: number, now: number): boolean {
  return due > 0 && due <= now;
}

/** The earlier of two points in time of which 0 is none. */
function earlier(a: number, b: number): number {
  return a === 0 || (b > 0 && b < a) ? b : a;
}
