import type { Exchange } from '../../exchange/exchange.js';
import type { FieldList, Fields } from '../../exchange/fields.js';
import { PlainResponseHead, type ResponseHead } from '../../exchange/heads.js';
import type { Piece } from '../../exchange/piece.js';
import { Timer, type TimerWheel } from '../../exchange/timer-wheel.js';
import type { UpstreamFailure, UpstreamHandler, UpstreamStream } from '../../exchange/upstream.js';
import type { WriteOutcome } from '../../wire/wire.js';

/** How long the service may take, in ms. */
export const AUTHORIZATION_TIMEOUT_MS = 10_000;

/** One question to an authorization service: it ends once, with leave, a denial or the failure that denies. */
export abstract class AuthorizationCall extends Timer implements UpstreamHandler {
  protected readonly exchange: Exchange;
  protected isOver = false;
  readonly #wheel: TimerWheel;
  #stream: UpstreamStream | undefined;

  constructor(exchange: Exchange, wheel: TimerWheel) {
    super();
    this.exchange = exchange;
    this.#wheel = wheel;
  }

  begin(stream: UpstreamStream): void {
    this.#stream = stream;
    this.#wheel.arm(this, AUTHORIZATION_TIMEOUT_MS);
  }

  override expire(): void {
    this.abandon();
    this.refuse(504, 'no answer in time');
  }

  abstract onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome;
  abstract onUpstreamData(piece: Piece): WriteOutcome;
  abstract onUpstreamTrailers(fields: Fields): void;

  onUpstreamInformational(head: ResponseHead): void {
    if (head.status !== 101) return;
    this.abandon();
    this.refuse(503, 'the service answered with a tunnel');
  }

  onUpstreamDrain(): void {
    // The body was sent whole.
  }

  onUpstreamFailure({ detail }: UpstreamFailure): void {
    this.refuse(503, detail);
  }

  /** Nobody reads the rest of the answer. */
  protected abandon(): void {
    this.#stream?.abort();
  }

  /** `prepare` changes the request, which then goes on. */
  protected allow(prepare: (exchange: Exchange) => void): void {
    if (!this.#end()) return;
    prepare(this.exchange);
    this.exchange.proceed();
  }

  protected deny(status: number, fields: FieldList, body: Buffer): void {
    if (!this.#end()) return;
    fields.set('content-length', String(body.length));
    this.exchange.answer(new PlainResponseHead(status, fields, body.length), body);
  }

  protected refuse(status: number, detail: string): void {
    if (this.#end()) this.exchange.refuse(status, `external authorization: ${detail}`);
  }

  /** @returns false when it was over, or nobody waits any more. */
  #end(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    this.#wheel.remove(this);
    return !this.exchange.closed;
  }
}
