import { performance } from 'node:perf_hooks';
import type { Endpoint } from '../../ir/upstream.js';
import { isDue, type DeadlineOwner, type Deadlines } from './deadlines.js';
import type { DownstreamContext, DownstreamStream } from './downstream.js';
import type { ExchangeRecord, Termination } from './exchange-record.js';
import type { ExchangeServices } from './exchange-services.js';
import type { RequestHead } from './heads.js';
import type { Piece } from './piece.js';
import { InboundBody, NO_BODY } from './inbound-body.js';
import type { BackendEntry, RouteEntry, RuleEntry } from './route-entry.js';
import { budgetOf } from './retry-budget.js';

/** The record of an exchange while it is written, and the points in time that it waits for. */
export abstract class TimedExchange implements ExchangeRecord, DeadlineOwner {
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
  /** The client, or what stands for it once it has left. */
  protected stream: DownstreamStream;
  protected readonly body: InboundBody;
  /** The record was taken, though a fetch may go on. */
  protected recorded = false;
  #deadlines: Deadlines | undefined = undefined;

  constructor(services: ExchangeServices, stream: DownstreamStream, request: RequestHead, first: Piece) {
    this.services = services;
    this.stream = stream;
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

  /** Adds bytes that went past the exchange. */
  protected noteForwarded(received: number, sent: number): void {
    this.body.bytes += received;
    this.responseBytes += sent;
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
    if (backendMs === 0 && headMs === 0 && !this.#deadlines) return;
    const deadlines = this.#awaited();
    deadlines.retry = 0;
    deadlines.attempt = backendMs > 0 ? now + backendMs : 0;
    deadlines.head = headMs > 0 ? now + headMs : 0;
    this.services.deadlines.arm(deadlines, now);
  }

  protected awaitRequest(ms: number): void {
    if (ms === 0) return;
    const deadlines = this.#awaited();
    deadlines.request = this.startedAt + ms;
    this.services.deadlines.arm(deadlines, this.startedAt);
  }

  protected awaitRetry(now: number, ms: number): void {
    const deadlines = this.#awaited();
    deadlines.attempt = 0;
    deadlines.head = 0;
    deadlines.retry = now + ms;
    this.services.deadlines.arm(deadlines, now);
  }

  /** A head is awaited from the last byte of the request on. */
  protected requestSent(): void {
    const deadlines = this.#deadlines;
    if (deadlines && deadlines.head > 0) deadlines.head = performance.now() + (this.rule?.awaitHeadMs ?? 0);
  }

  protected headReceived(): void {
    if (this.#deadlines) this.#deadlines.head = 0;
  }

  protected stopClock(): void {
    if (this.#deadlines) this.services.deadlines.give(this.#deadlines);
    this.#deadlines = undefined;
  }

  #awaited(): Deadlines {
    return (this.#deadlines ??= this.services.deadlines.take(this));
  }

  onDeadline(deadlines: Deadlines, now: number): void {
    if (isDue(deadlines.request, now)) this.requestTimedOut();
    else if (isDue(deadlines.retry, now)) {
      deadlines.retry = 0;
      this.retry();
    } else if (isDue(deadlines.attempt, now)) this.attemptTimedOut('the backend took too long');
    else if (isDue(deadlines.head, now) && this.body.done)
      this.attemptTimedOut('the backend does not answer');
    else {
      // The request is still on its way.
      if (isDue(deadlines.head, now)) deadlines.head = now + (this.rule?.awaitHeadMs ?? 0);
      this.services.deadlines.arm(deadlines, now);
    }
  }
}
