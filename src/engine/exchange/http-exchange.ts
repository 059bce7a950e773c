import { performance } from 'node:perf_hooks';
import type { Endpoint } from '../../ir/upstream.js';
import { FAILED, PENDING, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import * as counter from '../../telemetry/engine-counters.js';
import { DetachedStream } from './detached-stream.js';
import type { DownstreamStream } from './downstream.js';
import type { ExchangeServices } from './exchange-services.js';
import type { Exchange, InboundExchange } from './exchange.js';
import type { Fields } from './fields.js';
import { PlainRequestHead, type RequestHead, type ResponseHead } from './heads.js';
import { Piece } from './piece.js';
import type { ResponseTap } from './response-cache.js';
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
  #upstream: UpstreamStream | undefined = undefined;
  /** The codec holds the body back, or waits to be told to send it. */
  #held: boolean;
  /** The codec was told `PENDING`. */
  #owesResume = false;
  #beginning = false;
  /** A dead connection was replaced, and how often that cost an attempt that does not count. */
  #replaced = false;
  #replacements = 0;

  constructor(services: ExchangeServices, stream: DownstreamStream, request: RequestHead, first: Piece) {
    super(services, stream, request, first);
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
      this.giveUp(choice.status, choice.reason);
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
    if (this.isCommitted) this.breakOff(failure.detail);
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
      this.giveUp(statusOf(failure), failure.detail);
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
      this.giveUp(statusOf(failure), failure.detail);
    else this.#attempt(failed);
  }

  #retryLater(): void {
    this.preferred = undefined;
    this.hold();
    this.awaitRetry(performance.now(), this.rule?.retry?.backoffMs ?? DEFAULT_BACKOFF_MS);
  }

  // — the body of the request —

  onRequestData(piece: Piece): WriteOutcome {
    if (this.closed) return WRITTEN;
    const upstream = this.#upstream;
    if (this.tunnel) return this.#sendIntoTunnel(piece);
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
    if (this.closed || !(this.#owesResume || this.tunnel?.joined)) return;
    this.#owesResume = false;
    this.stream.resumeBody();
    this.tunnel?.join(this.stream, this.#upstream);
  }

  collectBody(limit: number, done: (body: Buffer | undefined) => void): void {
    if (this.body.collect(limit, done)) this.#letFlow();
  }

  #tooLarge(): void {
    if (this.responded) this.breakOff('the body of the request is too large', 'gateway');
    else this.refuse(413, 'the body of the request is too large');
  }

  #sendIntoTunnel(piece: Piece): WriteOutcome {
    this.body.bytes += piece.length;
    const outcome = this.#upstream?.sendData(piece) ?? FAILED;
    if (outcome === PENDING) this.#owesResume = true;
    if (piece.last && this.tunnel?.endDirection()) this.finish('complete', '');
    return outcome;
  }

  protected override hold(): void {
    if (this.#held || this.body.done || this.body.isCollecting) return;
    this.#held = true;
    this.stream.pauseBody();
  }

  #letFlow(): void {
    if (this.closed || (!this.#held && !this.#owesResume)) return;
    this.#held = false;
    this.#owesResume = false;
    this.stream.resumeBody();
    this.tunnel?.join(this.stream, this.#upstream);
  }

  // — the response —

  onUpstreamInformational(head: ResponseHead): void {
    if (!this.responded && !this.closed) this.stream.sendInformational(head);
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.closed) return FAILED;
    this.upstreamHeadAt = performance.now();
    this.headReceived();
    if (this.#asksAgain(head.status, piece.last)) return FAILED;
    if (head.status === 101) this.#enterTunnel();
    else if (piece.last) this.#upstream = undefined;
    const outcome = this.relayHead(head, piece);
    if (this.tunnel) this.#letFlow();
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

  onUpstreamData(piece: Piece): WriteOutcome {
    if (this.closed) return FAILED;
    if (piece.length > 0) this.tap?.onData(piece);
    if (piece.last && !this.tunnel) this.#upstream = undefined;
    return this.relayData(piece);
  }

  onUpstreamTrailers(trailers: Fields): void {
    if (this.closed) return;
    this.#upstream = undefined;
    this.relayTrailers(trailers);
  }

  onResponseDrain(): void {
    if (this.source) this.source.resume();
    else this.#upstream?.resume();
    this.tunnel?.join(this.stream, this.#upstream);
  }

  /** W-04: a tunnel lives as long as its ends; no timeout of a request cuts it. */
  #enterTunnel(): void {
    this.tunnel = new Tunnel();
    this.#held = true;
    this.stopClock();
  }

  // — ends —

  onRequestAbort(detail: string): void {
    if (this.closed) return;
    this.body.abort();
    if (this.#upstream && !this.tunnel && this.tap?.wantsRest()) {
      this.#detach(detail);
      return;
    }
    this.abandon();
    this.finish('client', detail);
  }

  /** The client has left, the fetch goes on for the store. */
  #detach(detail: string): void {
    const stream = this.stream;
    this.record('client', detail, performance.now());
    this.request = PlainRequestHead.of(this.request);
    this.responded = true;
    this.#owesResume = false;
    this.stream = new DetachedStream(this.context);
    stream.release();
    this.#upstream?.resume();
  }

  protected override abortUpstream(): void {
    this.#upstream?.abort();
    this.#upstream = undefined;
  }

  // — time —

  protected override requestTimedOut(): void {
    if (this.responded) {
      this.breakOff('the time of the request is over', 'timeout');
      return;
    }
    this.abortUpstream();
    this.giveUp(504, 'the time of the request is over');
  }

  protected override attemptTimedOut(detail: string): void {
    if (this.isCommitted) {
      this.breakOff(detail, 'timeout');
      return;
    }
    this.abortUpstream();
    this.#attemptFailed({ kind: 'timeout', detail }, false);
  }

  protected override retry(): void {
    this.#attempt(this.endpoint);
  }
}
