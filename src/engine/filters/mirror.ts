import type { RequestMirror } from '../../ir/http-filter.js';
import type { Exchange } from '../exchange/exchange.js';
import { CONTINUE, type RequestStep, type StepOutcome } from '../exchange/route-entry.js';
import type { UpstreamTarget } from '../exchange/upstream.js';

/** Sends copies of requests; answers are thrown away. Must neither throw nor delay the exchange. */
export interface MirrorSender {
  /** The exchange's head as it is now; the body is heard with `exchange.tapBody`. */
  send(exchange: Exchange, upstream: UpstreamTarget): void;
}

/** Copies the given share of requests, spread evenly: of each `denominator` in a row exactly `numerator`. */
export class Mirror implements RequestStep {
  readonly #numerator: number;
  readonly #denominator: number;
  readonly #upstream: UpstreamTarget;
  readonly #sender: MirrorSender;
  #debt = 0;

  constructor({ numerator, denominator }: RequestMirror, upstream: UpstreamTarget, sender: MirrorSender) {
    this.#numerator = numerator;
    this.#denominator = denominator;
    this.#upstream = upstream;
    this.#sender = sender;
  }

  run(exchange: Exchange): StepOutcome {
    this.#debt += this.#numerator;
    if (this.#debt >= this.#denominator && this.#numerator > 0) {
      this.#debt -= this.#denominator;
      this.#sender.send(exchange, this.#upstream);
    }
    return CONTINUE;
  }
}
