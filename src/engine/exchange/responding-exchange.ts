import { performance } from 'node:perf_hooks';
import { FAILED, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import type { Termination } from './exchange-record.js';
import type { Exchange, RequestBodyTap, ResponseSource } from './exchange.js';
import type { Fields } from './fields.js';
import { gatewayAnswer } from './gateway-answer.js';
import { grpcAnswer, isGrpc } from './grpc-answer.js';
import { PlainResponseHead, type ResponseHead, type SharedResponseHead } from './heads.js';
import { addResponseFields, dateNow } from './own-fields.js';
import { Piece } from './piece.js';
import { SWALLOW, type ResponseTap } from './response-cache.js';
import { applyResponseSteps, changesResponses } from './response-steps.js';
import { TimedExchange } from './timed-exchange.js';
import type { Tunnel } from './tunnel.js';

/** Passed down within one call, never kept. */
const scratch = new Piece();

/**
 * The response of an exchange on its way to the client: made here, streamed by another layer, or a backend's, which the tap
 * hears first. With the response the exchange ends. Where a backend's comes from is not known here.
 */
export abstract class RespondingExchange extends TimedExchange implements Exchange {
  tap: ResponseTap | undefined = undefined;
  protected source: ResponseSource | undefined = undefined;
  /** A response was begun towards the client. */
  protected responded = false;
  /** Set with 101: what follows has two ends. */
  protected tunnel: Tunnel | undefined = undefined;
  /** The response of the backend is for the tap alone. */
  #swallowing = false;

  abstract proceed(): void;
  abstract forward(): void;
  abstract collectBody(limit: number, done: (body: Buffer | undefined) => void): void;
  abstract tapBody(tap: RequestBodyTap): void;
  /** The client has left. */
  abstract onRequestAbort(detail: string): void;
  /** Nobody wants to hear of the backend any more. */
  protected abstract abortUpstream(): void;

  // — a whole answer —

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
    this.abandon();
    if (!head.fields.has('date')) head.fields.addBlock(dateNow());
    this.status = head.status;
    this.responseHeadAt = performance.now();
    scratch.set(body, 0, body.length, true);
    this.responseBytes = scratch.length;
    if (this.stream.sendHead(head, scratch) === FAILED) this.onRequestAbort('the client is gone');
    else this.finish(termination, detail, this.responseHeadAt);
  }

  // — an answer of another layer —

  respondHead(head: ResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    if (this.closed || this.responded) return FAILED;
    this.responded = true;
    this.source = source;
    return this.#relay(head, piece, performance.now());
  }

  respondShared(head: SharedResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    if (this.closed || this.responded) return FAILED;
    this.responded = true;
    this.source = source;
    return this.#transmit(
      changesResponses(this) ? PlainResponseHead.of(head) : head,
      piece,
      performance.now(),
    );
  }

  respondData(piece: Piece): WriteOutcome {
    return this.closed ? FAILED : this.#send(piece);
  }

  respondTrailers(trailers: Fields): void {
    if (this.closed) return;
    this.stream.sendTrailers(trailers);
    this.finish('complete', '');
  }

  respondAbort(detail: string): void {
    this.source = undefined;
    if (!this.closed) this.breakOff(detail);
  }

  // — the answer of a backend —

  /** A response was begun, to whomever: there is no other attempt. */
  protected get isCommitted(): boolean {
    return this.responded || this.#swallowing;
  }

  protected relayHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.tap && this.#swallows(this.tap, head, piece)) return WRITTEN;
    this.responded = true;
    return this.#relay(head, piece, this.upstreamHeadAt);
  }

  #swallows(tap: ResponseTap, head: ResponseHead, piece: Piece): boolean {
    this.#swallowing = tap.onHead(this, head) === SWALLOW;
    if (piece.length > 0) tap.onData(piece);
    if (this.#swallowing && piece.last) this.#endTap(undefined);
    return this.#swallowing;
  }

  /** What the tap has heard goes on to the client. */
  protected relayData(piece: Piece): WriteOutcome {
    if (!this.#swallowing) return this.#send(piece);
    if (piece.last) this.#endTap(undefined);
    return WRITTEN;
  }

  protected relayTrailers(trailers: Fields): void {
    this.#endTap(trailers);
    if (!this.#swallowing) this.respondTrailers(trailers);
  }

  /** No attempt gave an answer. */
  protected giveUp(status: number, detail: string): void {
    const { tap } = this;
    this.tap = undefined;
    const isAnswered = tap?.onFailure(this, status) ?? false;
    tap?.onAbort();
    if (!isAnswered && !this.responded) this.refuse(status, detail);
  }

  #endTap(trailers: Fields | undefined): void {
    const { tap } = this;
    this.tap = undefined;
    tap?.onEnd(trailers);
  }

  // — to the client —

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
    const outcome = this.stream.sendHead(head, piece);
    if (outcome === FAILED) this.onRequestAbort('the client is gone');
    else if (isOver) this.#complete(now);
    return outcome;
  }

  #send(piece: Piece): WriteOutcome {
    const isOver = piece.last;
    this.responseBytes += piece.length;
    const outcome = this.stream.sendData(piece);
    if (outcome === FAILED) this.onRequestAbort('the client is gone');
    else if (isOver && this.tunnel?.endDirection() !== false) this.#complete(performance.now());
    return outcome;
  }

  #complete(now: number): void {
    if (!this.#swallowing) this.#endTap(undefined);
    this.finish('complete', '', now);
  }

  // — ends —

  /** The response cannot be completed, and the client must see that. */
  protected breakOff(detail: string, termination: Termination = 'upstream'): void {
    this.abandon();
    if (!this.responded) {
      this.refuse(termination === 'timeout' ? 504 : 502, detail);
      return;
    }
    this.stream.abort();
    this.finish(termination, detail);
  }

  /** Whoever makes a response is told that nobody wants the rest. */
  protected abandon(): void {
    this.abortUpstream();
    this.source?.cancel();
    const { tap } = this;
    this.tap = undefined;
    tap?.onAbort();
  }

  protected finish(termination: Termination, detail: string, now = 0): void {
    if (this.closed) return;
    this.closed = true;
    this.stopClock();
    if (this.tunnel) this.noteForwarded(this.tunnel.received, this.tunnel.sent);
    this.record(termination, detail, now === 0 ? performance.now() : now);
    this.stream.release();
  }
}

const EMPTY = Buffer.alloc(0);
