import { performance } from 'node:perf_hooks';
import type { Endpoint } from '../../ir/upstream.js';
import { FAILED, PENDING, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import * as counter from '../../telemetry/engine-counters.js';
import { DetachedStream } from './detached-stream.js';
import type { DownstreamStream } from './downstream.js';
import type { Termination } from './exchange-record.js';
import type { ExchangeServices } from './exchange-services.js';
import type { Exchange, InboundExchange, ResponseSource } from './exchange.js';
import type { Fields } from './fields.js';
import { gatewayAnswer } from './gateway-answer.js';
import { grpcAnswer, isGrpc } from './grpc-answer.js';
import type { RequestHead, ResponseHead, SharedResponseHead } from './heads.js';
import { addResponseFields, dateNow } from './own-fields.js';
import { Piece } from './piece.js';
import { SWALLOW, type ResponseTap } from './response-cache.js';
import { applyResponseSteps, changesResponses } from './response-steps.js';
import { budgetOf } from './retry-budget.js';
import { DEFAULT_BACKOFF_MS, decideRetry, isRetriedStatus, mayReplay, statusOf } from './retry-rules.js';
import { StagedExchange } from './staged-exchange.js';
import { Tunnel } from './tunnel.js';
import { isUnavailable } from './upstream.js';
import type { Unavailable, UpstreamFailure, UpstreamHandler, UpstreamStream } from './upstream.js';

const NO_UPSTREAM: Unavailable = { status: 500, reason: 'the backend has no upstream' };

/** Passed down within one call, never kept. */
const scratch = new Piece();

/** The exchange of {@link Exchange}; made for one request by `HttpExchangeRunner`. */
export class HttpExchange extends StagedExchange implements InboundExchange, UpstreamHandler {
  #stream: DownstreamStream;
  #upstream: UpstreamStream | undefined = undefined;
  #source: ResponseSource | undefined = undefined;
  /** The codec holds the body back, or waits to be told to send it. */
  #held: boolean;
  /** The codec was told `PENDING`. */
  #owesResume = false;
  #beginning = false;
  /** The response of the backend is for the tap alone. */
  #swallowing = false;
  #tunnel: Tunnel | undefined = undefined;
  /** A dead connection was replaced, and how often that cost an attempt that does not count. */
  #replaced = false;
  #replacements = 0;

  constructor(services: ExchangeServices, stream: DownstreamStream, request: RequestHead, first: Piece) {
    super(services, stream, request, first);
    this.#stream = stream;
    this.#held = request.expectContinue;
  }

  // — the beginning —

  /** Routes and runs as far as it goes at once. */
  begin(): void {
    this.#beginning = true;
    this.findRoute();
    this.#beginning = false;
    this.body.settle();
    if (!this.closed && !this.#upstream && !this.responded) this.hold();
  }

  /** Asks the backend of another exchange, for the cache's sake. */
  beginLike(like: Exchange, tap: ResponseTap): void {
    this.route = like.route;
    this.rule = like.rule;
    this.backend = like.backend;
    this.tap = tap;
    this.recorded = true;
    this.skipStages();
    this.forward();
  }

  // — attempts —

  forward(): void {
    if (this.closed || this.responded || this.#upstream) return;
    this.#attempt(undefined);
  }

  #attempt(avoided: Endpoint | undefined): void {
    const choice = this.backend?.upstream?.choose(this.preferred, avoided) ?? NO_UPSTREAM;
    if (isUnavailable(choice)) {
      this.#giveUp(choice.status, choice.reason);
      return;
    }
    this.endpoint = choice.endpoint;
    this.noteAttempt(this.#beginning ? this.startedAt : performance.now());
    const { body, request } = this;
    if (this.#mayReplay()) body.keepFirst();
    body.fill(scratch);
    const upstream = choice.open({ head: request, piece: scratch, mayReuse: !this.#replaced }, this);
    this.#upstream = upstream;
    if (!this.#mayReplay()) body.forget();
    if (body.trailers) upstream.sendTrailers(body.trailers);
    if (!body.done) this.#letFlow();
  }

  /** The body is kept while another attempt is thinkable. */
  #mayReplay(): boolean {
    return mayReplay(this.body, this.rule?.retry, this.request.method);
  }

  onUpstreamFailure(failure: UpstreamFailure): void {
    const reused = this.#upstream?.reused ?? false;
    this.#upstream = undefined;
    if (this.closed) return;
    if (this.responded || this.#swallowing) this.#breakOff(failure.detail);
    else this.#attemptFailed(failure, reused);
  }

  #attemptFailed(failure: UpstreamFailure, reused: boolean): void {
    const decision = this.body.isComplete
      ? decideRetry(this.rule?.retry, {
          failure,
          method: this.request.method,
          reused,
          attempts: this.attempts - this.#replacements,
          replaced: this.#replaced,
        })
      : 'give-up';
    const isOverBudget = decision === 'retry' && budgetOf(this.rule?.retry)?.take() === false;
    if (decision === 'give-up' || isOverBudget) {
      this.#giveUp(statusOf(failure), failure.detail);
      return;
    }
    this.count(counter.UPSTREAM_RETRIES_TOTAL, 1);
    if (decision === 'retry') this.#retryLater();
    else if (decision === 'replace') {
      this.#replaced = true;
      this.#replacements++;
      this.preferred ??= this.endpoint && `${this.endpoint.address}:${this.endpoint.port}`;
      this.#attempt(undefined);
    } else this.#failover(failure);
  }

  /** Another endpoint, unless there is none: then the first failure is the answer. */
  #failover(failure: UpstreamFailure): void {
    const failed = this.endpoint;
    this.preferred = undefined;
    const choice = this.backend?.upstream?.choose(undefined, failed);
    if (!choice || isUnavailable(choice) || choice.endpoint === failed)
      this.#giveUp(statusOf(failure), failure.detail);
    else this.#attempt(failed);
  }

  #retryLater(): void {
    this.preferred = undefined;
    this.hold();
    this.awaitRetry(performance.now(), this.rule?.retry?.backoffMs ?? DEFAULT_BACKOFF_MS);
  }

  /** No attempt gave an answer. */
  #giveUp(status: number, detail: string): void {
    const { tap } = this;
    this.tap = undefined;
    const isAnswered = tap?.onFailure(this, status) ?? false;
    tap?.onAbort();
    if (!isAnswered && !this.responded) this.refuse(status, detail);
  }

  // — the body of the request —

  onRequestData(piece: Piece): WriteOutcome {
    if (this.closed) return WRITTEN;
    const upstream = this.#upstream;
    if (this.#tunnel) return this.#sendIntoTunnel(piece);
    this.body.receive(piece, upstream && !this.#mayReplay() ? 0 : Infinity);
    const limit = this.context.settings.maxRequestBodyBytes;
    if (limit >= 0 && this.body.bytes > limit) {
      this.#tooLarge();
      return WRITTEN;
    }
    if (!upstream) {
      if (!this.#upstream) this.hold();
      return WRITTEN;
    }
    if (piece.last) this.requestSent();
    const outcome = upstream.sendData(piece);
    if (outcome === PENDING) this.#owesResume = true;
    return outcome;
  }

  onRequestTrailers(trailers: Fields): void {
    if (this.closed) return;
    this.body.receiveTrailers(trailers, scratch.clear(true));
    this.#upstream?.sendTrailers(trailers);
  }

  onUpstreamDrain(): void {
    if (this.closed || !(this.#owesResume || this.#tunnel?.joined)) return;
    this.#owesResume = false;
    this.#stream.resumeBody();
    this.#tunnel?.join(this.#stream, this.#upstream);
  }

  collectBody(limit: number, done: (body: Buffer | undefined) => void): void {
    if (this.body.collect(limit, done)) this.#letFlow();
  }

  #tooLarge(): void {
    if (this.responded) this.#breakOff('the body of the request is too large', 'gateway');
    else this.refuse(413, 'the body of the request is too large');
  }

  #sendIntoTunnel(piece: Piece): WriteOutcome {
    this.body.bytes += piece.length;
    const outcome = this.#upstream?.sendData(piece) ?? FAILED;
    if (outcome === PENDING) this.#owesResume = true;
    if (piece.last && this.#tunnel?.endDirection()) this.#finish('complete', '');
    return outcome;
  }

  protected override hold(): void {
    if (this.#held || this.body.done || this.body.isCollecting) return;
    this.#held = true;
    this.#stream.pauseBody();
  }

  #letFlow(): void {
    if (this.closed || (!this.#held && !this.#owesResume)) return;
    this.#held = false;
    this.#owesResume = false;
    this.#stream.resumeBody();
    this.#tunnel?.join(this.#stream, this.#upstream);
  }

  // — the response —

  onUpstreamInformational(head: ResponseHead): void {
    if (!this.responded && !this.closed) this.#stream.sendInformational(head);
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.closed) return FAILED;
    this.upstreamHeadAt = performance.now();
    this.headReceived();
    if (this.#asksAgain(head.status, piece.last)) return FAILED;
    if (head.status === 101) this.#enterTunnel();
    else if (piece.last) this.#upstream = undefined;
    if (this.tap && this.#swallows(this.tap, head, piece)) return WRITTEN;
    this.responded = true;
    const outcome = this.#relay(head, piece, this.upstreamHeadAt);
    if (this.#tunnel) this.#letFlow();
    return outcome;
  }

  /** The policy of the rule does not take this answer: another attempt follows. */
  #asksAgain(status: number, isOver: boolean): boolean {
    const policy = this.rule?.retry;
    if (!isRetriedStatus(policy, status, this.attempts - this.#replacements) || !this.body.isComplete)
      return false;
    if (budgetOf(policy)?.take() === false) return false;
    if (!isOver) this.#upstream?.abort();
    this.#upstream = undefined;
    this.count(counter.UPSTREAM_RETRIES_TOTAL, 1);
    this.#retryLater();
    return true;
  }

  #swallows(tap: ResponseTap, head: ResponseHead, piece: Piece): boolean {
    this.#swallowing = tap.onHead(this, head) === SWALLOW;
    if (piece.length > 0) tap.onData(piece);
    if (this.#swallowing && piece.last) this.#endTap(undefined);
    return this.#swallowing;
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
    this.#tunnel?.join(this.#stream, this.#upstream);
  }

  respondHead(head: ResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    if (this.closed || this.responded) return FAILED;
    this.responded = true;
    this.#source = source;
    return this.#relay(head, piece, performance.now());
  }

  respondShared(head: SharedResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    if (this.closed || this.responded) return FAILED;
    this.responded = true;
    this.#source = source;
    return this.#transmit(changesResponses(this) ? head.snapshot() : head, piece, performance.now());
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

  answer(head: ResponseHead, body = EMPTY): void {
    this.#answerWith(head, body, 'complete', '');
  }

  refuse(status: number, detail: string): void {
    if (isGrpc(this.request)) {
      this.#answerWith(grpcAnswer(status, detail), EMPTY, 'gateway', detail);
      return;
    }
    const { head, body } = gatewayAnswer(status);
    this.#answerWith(head, body, 'gateway', detail);
  }

  #answerWith(head: ResponseHead, body: Buffer, termination: Termination, detail: string): void {
    if (this.closed || this.responded) return;
    this.responded = true;
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#dropTap();
    if (!head.fields.has('date')) head.fields.addBlock(dateNow());
    this.status = head.status;
    this.responseHeadAt = performance.now();
    scratch.set(body, 0, body.length, true);
    this.responseBytes = scratch.length;
    if (this.#stream.sendHead(head, scratch) === FAILED) this.onRequestAbort('the client is gone');
    else this.#finish(termination, detail, this.responseHeadAt);
  }

  /** Sends the head of a backend's or stored response. */
  #relay(head: ResponseHead, piece: Piece, now: number): WriteOutcome {
    addResponseFields(head);
    return this.#transmit(head, piece, now);
  }

  /** Sends a head that has our own fields, as the rule wants it. */
  #transmit(head: ResponseHead, piece: Piece, now: number): WriteOutcome {
    const isOver = piece.last;
    applyResponseSteps(this, head);
    this.status = head.status;
    this.responseHeadAt = now;
    this.responseBytes = piece.length;
    const outcome = this.#stream.sendHead(head, piece);
    if (outcome === FAILED) this.onRequestAbort('the client is gone');
    else if (isOver) this.#complete(now);
    return outcome;
  }

  #send(piece: Piece): WriteOutcome {
    const isOver = piece.last;
    this.responseBytes += piece.length;
    const outcome = this.#stream.sendData(piece);
    if (outcome === FAILED) this.onRequestAbort('the client is gone');
    else if (isOver && this.#tunnel?.endDirection() !== false) this.#complete(performance.now());
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
    this.#tunnel = new Tunnel();
    this.#held = true;
    this.stopClock();
  }

  // — ends —

  onRequestAbort(detail: string): void {
    if (this.closed) return;
    this.body.abort();
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
    this.record('client', detail, performance.now());
    this.request = this.request.snapshot();
    this.responded = true;
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
    if (!this.responded) {
      this.refuse(termination === 'timeout' ? 504 : 502, detail);
      return;
    }
    this.#stream.abort();
    this.#finish(termination, detail);
  }

  #finish(termination: Termination, detail: string, now = 0): void {
    if (this.closed) return;
    this.closed = true;
    this.stopClock();
    if (this.#tunnel) this.noteForwarded(this.#tunnel.received, this.#tunnel.sent);
    this.record(termination, detail, now === 0 ? performance.now() : now);
    this.#stream.release();
  }

  // — time —

  protected override requestTimedOut(): void {
    if (this.responded) {
      this.#breakOff('the time of the request is over', 'timeout');
      return;
    }
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#giveUp(504, 'the time of the request is over');
  }

  protected override attemptTimedOut(detail: string): void {
    if (this.responded || this.#swallowing) {
      this.#breakOff(detail, 'timeout');
      return;
    }
    this.#upstream?.abort();
    this.#upstream = undefined;
    this.#attemptFailed({ kind: 'timeout', detail }, false);
  }

  protected override retry(): void {
    this.#attempt(this.endpoint);
  }
}

const EMPTY = Buffer.alloc(0);
