import type { Endpoint } from '../../ir/upstream.js';
import { FAILED, PENDING, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import * as counter from './counters.js';
import { DetachedStream } from './detached-stream.js';
import type { DownstreamContext, DownstreamStream } from './downstream.js';
import type { Termination } from './exchange-record.js';
import type { ExchangeServices } from './exchange-services.js';
import type { Exchange, InboundExchange, RequestBodyTap, ResponseSource } from './exchange.js';
import type { Fields } from './fields.js';
import { gatewayAnswer } from './gateway-answer.js';
import { grpcAnswer, isGrpc } from './grpc-answer.js';
import type { RequestHead, ResponseHead } from './heads.js';
import { InboundBody } from './inbound-body.js';
import { addRequestFields, addResponseFields, dateNow } from './own-fields.js';
import { Piece } from './piece.js';
import { FETCH, PASS, SWALLOW, type ResponseTap } from './response-cache.js';
import { DEFAULT_BACKOFF_MS, decideRetry, isIdempotent, isRetriedStatus, statusOf } from './retry-rules.js';
import { CONTINUE, SUSPENDED } from './route-entry.js';
import type {
  BackendEntry,
  RequestStep,
  ResponseStep,
  RouteEntry,
  RuleEntry,
  StepOutcome,
} from './route-entry.js';
import { Timer } from './timer-wheel.js';
import {
  isUnavailable,
  type UpstreamFailure,
  type UpstreamHandler,
  type UpstreamStream,
} from './upstream.js';

/** Largest request body that is kept to be sent again. */
const MAX_REPLAY_BYTES = 64 * 1024;

const RULE_STEPS = 0;
const BACKEND_STEPS = 1;
/** The cache was asked, or is not concerned. */
const ADMITTED = 2;

/** Passed down within one call, never kept. */
const scratch = new Piece();

/** The exchange of {@link Exchange}; made for one request by {@link HttpExchangeRunner}. */
export class HttpExchange extends Timer implements Exchange, InboundExchange, UpstreamHandler {
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
  closed = false;
  tap: ResponseTap | undefined = undefined;

  readonly #services: ExchangeServices;
  readonly #body: InboundBody;
  #stream: DownstreamStream;
  #upstream: UpstreamStream | undefined = undefined;
  #source: ResponseSource | undefined = undefined;
  #stage = RULE_STEPS;
  #step = 0;
  /** A step is running: what it calls is not to go on under it. */
  #stepping = false;
  #proceeded = false;
  /** The codec holds the body back, or waits to be told to send it. */
  #held: boolean;
  /** The codec was told `PENDING`. */
  #owesResume = false;
  #preferred: string | undefined = undefined;
  /** The response of the backend is for the tap alone. */
  #swallowing = false;
  /** A response was begun towards the client. */
  #responded = false;
  #tunnel = false;
  #tunnelEnds = 0;
  #replaced = false;
  #replacements = 0;
  /** The record was taken, though a fetch goes on. */
  #recorded = false;
  #requestDue = 0;
  #attemptDue = 0;
  #headDue = 0;
  #retryDue = 0;

  constructor(services: ExchangeServices, stream: DownstreamStream, request: RequestHead, first: Piece) {
    super();
    this.#services = services;
    this.#stream = stream;
    this.context = stream.context;
    this.request = request;
    this.originalMethod = request.method;
    this.originalAuthority = request.authority;
    this.originalPath = request.path;
    this.startedAt = performance.now();
    this.#body = new InboundBody(first);
    this.#held = request.expectContinue;
  }

  get requestBytes(): number {
    return this.#body.bytes;
  }

  // — the beginning —

  /** Routes and runs as far as it goes at once. */
  begin(): void {
    const found = this.#services.router.route(this.context, this.request);
    if (typeof found === 'number') {
      this.refuse(found, found === 421 ? 'another server answers for the host' : 'no rule matches');
    } else this.#enter(found);
    this.#body.settle();
    if (!this.closed && !this.#upstream && !this.#responded) this.#hold();
  }

  /** Asks the backend of another exchange, for the cache's sake. */
  beginLike(like: Exchange, tap: ResponseTap): void {
    this.route = like.route;
    this.rule = like.rule;
    this.backend = like.backend;
    this.tap = tap;
    this.#recorded = true;
    this.#stage = ADMITTED;
    this.forward();
  }

  #enter(route: RouteEntry): void {
    const { rule } = route;
    this.route = route;
    this.rule = rule;
    const limit = this.context.settings.maxRequestBodyBytes;
    if (rule.refusal) {
      this.refuse(rule.refusal.status, rule.refusal.reason);
      return;
    }
    if (limit >= 0 && (this.request.contentLength > limit || this.#body.bytes > limit)) {
      this.refuse(413, 'the body of the request is too large');
      return;
    }
    if (rule.requestMs > 0) this.#requestDue = this.startedAt + rule.requestMs;
    if (this.#requestDue > 0) this.#arm(this.startedAt);
    addRequestFields(this.request, this.context);
    this.#advance();
  }

  proceed(): void {
    if (this.#stepping) this.#proceeded = true;
    else if (!this.closed && !this.#responded) this.#advance();
  }

  /** Runs steps from where it stands; then the cache; then the backend. */
  #advance(): void {
    if (this.#stage === RULE_STEPS) {
      if (this.rule && !this.#runSteps(this.rule.requestSteps)) return;
      if (!this.#chooseBackend()) return;
      this.#stage = BACKEND_STEPS;
      this.#step = 0;
    }
    if (this.#stage === BACKEND_STEPS) {
      if (this.backend && !this.#runSteps(this.backend.requestSteps)) return;
      this.#stage = ADMITTED;
      if (!this.#admit()) return;
    }
    this.forward();
  }

  /** False: a step answered or waits. */
  #runSteps(steps: readonly RequestStep[]): boolean {
    while (this.#step < steps.length) {
      const step = steps[this.#step++];
      if (!step) break;
      const outcome = this.#runStep(step);
      if (outcome === SUSPENDED) this.#hold();
      if (outcome !== CONTINUE || this.closed || this.#responded) return false;
    }
    return true;
  }

  #runStep(step: RequestStep): StepOutcome {
    this.#stepping = true;
    this.#proceeded = false;
    const outcome = step.run(this);
    this.#stepping = false;
    return outcome === SUSPENDED && this.#hasProceeded() ? CONTINUE : outcome;
  }

  #hasProceeded(): boolean {
    return this.#proceeded;
  }

  #chooseBackend(): boolean {
    const { rule } = this;
    if (!rule) return false;
    const kept = rule.affinity?.find(this);
    this.#preferred = kept?.endpoint;
    const backend = kept ? kept.backend : rule.backends.next();
    this.backend = backend;
    if (!backend) this.refuse(500, 'the rule has no backend');
    else if (backend.refusal) this.refuse(backend.refusal.status, backend.refusal.reason);
    else return true;
    return false;
  }

  /** False: the cache answers, or will say when to go on. */
  #admit(): boolean {
    const { cache } = this.#services;
    if (!cache || this.backend?.policy?.handler !== 'proxycache' || this.request.upgrade !== '') return true;
    const verdict = cache.admit(this);
    return verdict === PASS || verdict === FETCH;
  }

  // — attempts —

  forward(): void {
    if (this.closed || this.#responded || this.#upstream) return;
    this.#attempt(undefined);
  }

  #attempt(avoided: Endpoint | undefined): void {
    const target = this.backend?.upstream;
    const choice = target?.choose(this.#preferred, avoided) ?? {
      status: 500,
      reason: 'the backend has no upstream',
    };
    if (isUnavailable(choice)) {
      this.#giveUp(choice.status, choice.reason);
      return;
    }
    this.attempts++;
    this.endpoint = choice.endpoint;
    const now = this.attempts === 1 && !this.#requestDue ? this.startedAt : performance.now();
    this.upstreamStartedAt = now;
    this.#setAttemptDeadlines(now);
    const body = this.#body;
    if (this.#mayReplay()) body.keepFirst();
    body.fill(scratch);
    const mayReuse = !this.#replaced;
    this.#upstream = choice.open({ head: this.request, piece: scratch, mayReuse }, this);
    if (!this.#mayReplay()) body.forget();
    if (body.trailers && this.#isOpen()) this.#upstream.sendTrailers(body.trailers);
    if (!body.done) this.#letFlow();
  }

  #isOpen(): boolean {
    return this.#upstream !== undefined;
  }

  /** The body is kept while another attempt is thinkable. */
  #mayReplay(): boolean {
    if (this.#body.done && this.#body.bytes === 0) return false;
    return (
      this.#body.bytes <= MAX_REPLAY_BYTES &&
      (this.rule?.retry !== undefined || isIdempotent(this.request.method))
    );
  }

  onUpstreamFailure(failure: UpstreamFailure): void {
    const reused = this.#upstream?.reused ?? false;
    this.#upstream = undefined;
    if (this.closed) return;
    if (this.#responded || this.#swallowing) this.#breakOff(failure.detail);
    else this.#attemptFailed(failure, reused);
  }

  #attemptFailed(failure: UpstreamFailure, reused: boolean): void {
    const decision = this.#body.isComplete
      ? decideRetry(this.rule?.retry, {
          failure,
          method: this.request.method,
          reused,
          attempts: this.attempts - this.#replacements,
          replaced: this.#replaced,
        })
      : 'give-up';
    if (decision === 'give-up') {
      this.#giveUp(statusOf(failure), failure.detail);
      return;
    }
    this.#count(counter.UPSTREAM_RETRIES_TOTAL, 1);
    if (decision === 'retry') this.#retryLater();
    else if (decision === 'replace') {
      this.#replaced = true;
      this.#replacements++;
      this.#preferred ??= this.endpoint && `${this.endpoint.address}:${this.endpoint.port}`;
      this.#attempt(undefined);
    } else this.#failover(failure);
  }

  /** Another endpoint, unless there is none: then the first failure is the answer. */
  #failover(failure: UpstreamFailure): void {
    const failed = this.endpoint;
    this.#preferred = undefined;
    const choice = this.backend?.upstream?.choose(undefined, failed);
    if (!choice || isUnavailable(choice) || choice.endpoint === failed)
      this.#giveUp(statusOf(failure), failure.detail);
    else this.#attempt(failed);
  }

  #retryLater(): void {
    const now = performance.now();
    this.#attemptDue = 0;
    this.#headDue = 0;
    this.#preferred = undefined;
    this.#retryDue = now + (this.rule?.retry?.backoffMs ?? DEFAULT_BACKOFF_MS);
    this.#hold();
    this.#arm(now);
  }

  /** No attempt gave an answer. */
  #giveUp(status: number, detail: string): void {
    const { tap } = this;
    this.tap = undefined;
    const isAnswered = tap?.onFailure(this, status) ?? false;
    tap?.onAbort();
    if (!isAnswered && !this.#responded) this.refuse(status, detail);
  }

  // — the body of the request —

  onRequestData(piece: Piece): WriteOutcome {
    if (this.closed) return WRITTEN;
    const upstream = this.#upstream;
    if (this.#tunnel) return this.#sendIntoTunnel(piece);
    this.#body.receive(piece, upstream && !this.#mayReplay() ? 0 : Infinity);
    const limit = this.context.settings.maxRequestBodyBytes;
    if (limit >= 0 && this.#body.bytes > limit) {
      this.#tooLarge();
      return WRITTEN;
    }
    if (!upstream) {
      if (!this.#upstream) this.#hold();
      return WRITTEN;
    }
    if (piece.last && this.#headDue > 0) this.#headDue = performance.now() + (this.rule?.awaitHeadMs ?? 0);
    const outcome = upstream.sendData(piece);
    if (outcome === PENDING) this.#owesResume = true;
    return outcome;
  }

  onRequestTrailers(trailers: Fields): void {
    if (this.closed) return;
    this.#body.receiveTrailers(trailers, scratch.clear(true));
    this.#upstream?.sendTrailers(trailers);
  }

  onUpstreamDrain(): void {
    if (!this.#owesResume || this.closed) return;
    this.#owesResume = false;
    this.#stream.resumeBody();
  }

  collectBody(limit: number, done: (body: Buffer | undefined) => void): void {
    if (this.#body.collect(limit, done)) this.#letFlow();
  }

  tapBody(tap: RequestBodyTap): void {
    this.#body.tap(tap, scratch);
  }

  #tooLarge(): void {
    if (this.#responded) this.#breakOff('the body of the request is too large', 'gateway');
    else this.refuse(413, 'the body of the request is too large');
  }

  #sendIntoTunnel(piece: Piece): WriteOutcome {
    this.#body.bytes += piece.length;
    const outcome = this.#upstream?.sendData(piece) ?? FAILED;
    if (outcome === PENDING) this.#owesResume = true;
    if (piece.last) this.#endTunnel();
    return outcome;
  }

  #hold(): void {
    if (this.#held || this.#body.done || this.#body.isCollecting) return;
    this.#held = true;
    this.#stream.pauseBody();
  }

  #letFlow(): void {
    if (!this.#held && !this.#owesResume) return;
    this.#held = false;
    this.#owesResume = false;
    this.#stream.resumeBody();
  }

  // — the response —

  onUpstreamInformational(head: ResponseHead): void {
    if (!this.#responded && !this.closed) this.#stream.sendInformational(head);
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.closed) return FAILED;
    this.upstreamHeadAt = performance.now();
    this.#headDue = 0;
    const isOver = piece.last;
    if (
      isRetriedStatus(this.rule?.retry, head.status, this.attempts - this.#replacements) &&
      this.#body.isComplete
    ) {
      if (!isOver) this.#upstream?.abort();
      this.#upstream = undefined;
      this.#count(counter.UPSTREAM_RETRIES_TOTAL, 1);
      this.#retryLater();
      return FAILED;
    }
    if (head.status === 101) this.#enterTunnel();
    else if (isOver) this.#upstream = undefined;
    const { tap } = this;
    if (tap) {
      this.#swallowing = tap.onHead(this, head) === SWALLOW;
      if (piece.length > 0) tap.onData(piece);
      if (this.#swallowing) {
        if (isOver) this.#endTap(undefined);
        return WRITTEN;
      }
    }
    this.#responded = true;
    const outcome = this.#relay(head, piece, this.upstreamHeadAt);
    if (this.#tunnel && !this.closed) this.#letFlow();
    return outcome;
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    if (this.closed) return FAILED;
    const isOver = piece.last;
    if (piece.length > 0) this.tap?.onData(piece);
    if (isOver && !this.#tunnel) this.#upstream = undefined;
    if (!this.#swallowing) return this.#send(piece);
    if (isOver) this.#endTap(undefined);
    return WRITTEN;
  }

  onUpstreamTrailers(trailers: Fields): void {
    if (this.closed) return;
    this.#upstream = undefined;
    this.#endTap(trailers);
    if (!this.#swallowing) this.respondTrailers(trailers);
  }

  onResponseDrain(): void {
    if (this.#source) this.#source.resume();
    else this.#upstream?.resume();
  }

  respondHead(head: ResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    if (this.closed || this.#responded) return FAILED;
    this.#responded = true;
    this.#source = source;
    return this.#relay(head, piece, performance.now());
  }

  respondData(piece: Piece): WriteOutcome {
    return this.closed ? FAILED : this.#send(piece);
  }

  respondTrailers(trailers: Fields): void {
    if (this.closed) return;
    this.#stream.sendTrailers(trailers);
    this.#finish('complete', '');
  }

  respondAbort(detail: string): void {
    this.#source = undefined;
    if (!this.closed) this.#breakOff(detail);
  }

  answer(head: ResponseHead, body?: Buffer): void {
    this.#answerWith(head, body, 'complete', '');
  }

  refuse(status: number, detail: string): void {
    if (isGrpc(this.request)) {
      this.#answerWith(grpcAnswer(status, detail), undefined, 'gateway', detail);
      return;
    }
    const { head, body } = gatewayAnswer(status);
    this.#answerWith(head, body, 'gateway', detail);
  }

  #answerWith(head: ResponseHead, body: Buffer | undefined, termination: Termination, detail: string): void {
    if (this.closed || this.#responded) return;
    this.#responded = true;
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#dropTap();
    if (!head.fields.has('date')) head.fields.addBlock(dateNow());
    this.status = head.status;
    this.responseHeadAt = performance.now();
    if (body) scratch.set(body, 0, body.length, true);
    else scratch.clear(true);
    this.responseBytes = scratch.length;
    if (this.#stream.sendHead(head, scratch) === FAILED) this.onRequestAbort('the client is gone');
    else this.#finish(termination, detail, this.responseHeadAt);
  }

  /** Sends the head of a backend's or stored response, as the rule wants it. */
  #relay(head: ResponseHead, piece: Piece, now: number): WriteOutcome {
    const isOver = piece.last;
    addResponseFields(head);
    if (this.backend) this.#runResponseSteps(this.backend.responseSteps, head);
    if (this.rule) this.#runResponseSteps(this.rule.responseSteps, head);
    this.rule?.affinity?.remember(this, head);
    this.status = head.status;
    this.responseHeadAt = now;
    this.responseBytes = piece.length;
    const outcome = this.#stream.sendHead(head, piece);
    if (outcome === FAILED) this.onRequestAbort('the client is gone');
    else if (isOver) this.#complete(now);
    return outcome;
  }

  #runResponseSteps(steps: readonly ResponseStep[], head: ResponseHead): void {
    if (steps.length === 0) return;
    for (const step of steps) step.run(this, head);
    // What frames the message is not for filters to say.
    const { contentLength, fields } = head;
    const said = fields.get('content-length');
    if (said !== undefined && contentLength >= 0 && said !== String(contentLength)) {
      fields.set('content-length', String(contentLength));
    } else if (said !== undefined && contentLength < 0) fields.remove('content-length');
  }

  #send(piece: Piece): WriteOutcome {
    const isOver = piece.last;
    this.responseBytes += piece.length;
    const outcome = this.#stream.sendData(piece);
    if (outcome === FAILED) this.onRequestAbort('the client is gone');
    else if (isOver && this.#tunnel) this.#endTunnel();
    else if (isOver) this.#complete(performance.now());
    return outcome;
  }

  #complete(now: number): void {
    if (!this.#swallowing) this.#endTap(undefined);
    this.#finish('complete', '', now);
  }

  #endTap(trailers: Fields | undefined): void {
    const { tap } = this;
    this.tap = undefined;
    tap?.onEnd(trailers);
  }

  #dropTap(): void {
    const { tap } = this;
    this.tap = undefined;
    tap?.onAbort();
  }

  /** W-04: a tunnel lives as long as its ends; no timeout of a request cuts it. */
  #enterTunnel(): void {
    this.#tunnel = true;
    this.#held = true;
    this.#requestDue = 0;
    this.#attemptDue = 0;
    this.#services.wheel.remove(this);
  }

  #endTunnel(): void {
    if (++this.#tunnelEnds === 2) this.#finish('complete', '');
  }

  // — ends —

  onRequestAbort(detail: string): void {
    if (this.closed) return;
    this.#body.abort();
    if (this.#upstream && !this.#tunnel && this.tap?.wantsRest()) {
      this.#detach(detail);
      return;
    }
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#source?.cancel();
    this.#dropTap();
    this.#finish('client', detail);
  }

  /** The client has left, the fetch goes on for the store. */
  #detach(detail: string): void {
    const stream = this.#stream;
    this.#record('client', detail, performance.now());
    this.request = this.request.snapshot();
    this.#responded = true;
    this.#owesResume = false;
    this.#stream = new DetachedStream(this.context);
    stream.release();
    this.#upstream?.resume();
  }

  /** The response cannot be completed, and the client must see that. */
  #breakOff(detail: string, termination: Termination = 'upstream'): void {
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#source?.cancel();
    this.#dropTap();
    if (!this.#responded) {
      this.refuse(termination === 'timeout' ? 504 : 502, detail);
      return;
    }
    this.#stream.abort();
    this.#finish(termination, detail);
  }

  #finish(termination: Termination, detail: string, now = 0): void {
    if (this.closed) return;
    this.closed = true;
    this.#services.wheel.remove(this);
    this.#record(termination, detail, now === 0 ? performance.now() : now);
    this.#stream.release();
  }

  #record(termination: Termination, detail: string, now: number): void {
    if (this.#recorded) return;
    this.#recorded = true;
    this.termination = termination;
    this.detail = detail;
    this.endedAt = now;
    this.#services.observer.onExchangeEnd(this);
  }

  // — time —

  #setAttemptDeadlines(now: number): void {
    const backendMs = this.rule?.backendRequestMs ?? 0;
    const headMs = this.rule?.awaitHeadMs ?? 0;
    this.#retryDue = 0;
    this.#attemptDue = backendMs > 0 ? now + backendMs : 0;
    this.#headDue = headMs > 0 ? now + headMs : 0;
    if (backendMs > 0 || headMs > 0) this.#arm(now);
  }

  #arm(now: number): void {
    let due = Infinity;
    if (this.#requestDue > 0) due = this.#requestDue;
    if (this.#attemptDue > 0 && this.#attemptDue < due) due = this.#attemptDue;
    if (this.#headDue > 0 && this.#headDue < due) due = this.#headDue;
    if (this.#retryDue > 0 && this.#retryDue < due) due = this.#retryDue;
    if (due !== Infinity) this.#services.wheel.arm(this, Math.max(due - now, 0));
  }

  override expire(): void {
    if (this.closed) return;
    const now = performance.now();
    if (this.#requestDue > 0 && this.#requestDue <= now) {
      if (this.#responded) this.#breakOff('the time of the request is over', 'timeout');
      else this.#giveUpInTime();
    } else if (this.#retryDue > 0 && this.#retryDue <= now) {
      this.#retryDue = 0;
      this.#attempt(this.endpoint);
    } else if (this.#attemptDue > 0 && this.#attemptDue <= now) {
      this.#attemptTimedOut('the backend took too long');
    } else if (this.#headDue > 0 && this.#headDue <= now && this.#body.done) {
      this.#attemptTimedOut('the backend does not answer');
    } else {
      if (this.#headDue > 0 && this.#headDue <= now) this.#headDue = now + (this.rule?.awaitHeadMs ?? 0);
      this.#arm(now);
    }
  }

  #giveUpInTime(): void {
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#giveUp(504, 'the time of the request is over');
  }

  #attemptTimedOut(detail: string): void {
    this.#attemptDue = 0;
    this.#headDue = 0;
    if (this.#responded || this.#swallowing) {
      this.#breakOff(detail, 'timeout');
      return;
    }
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#attemptFailed({ kind: 'timeout', detail }, false);
    if (!this.closed) this.#arm(performance.now());
  }

  #count(cell: number, by: number): void {
    const { counters } = this.#services;
    counters[cell] = (counters[cell] ?? 0) + by;
  }
}
