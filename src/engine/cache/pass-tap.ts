import type { Exchange } from '../exchange/exchange.js';
import type { ResponseHead } from '../exchange/heads.js';
import { RELAY, type ResponseTap, type TapVerdict } from '../exchange/response-cache.js';
import { type CachePlan } from './cache-plan.js';
import { resultFields } from './cache-result.js';

/** Lets an answer pass that is not for the store; the policy's header operations and result header still apply. */
export class PassTap implements ResponseTap {
  readonly #plan: CachePlan;
  /** Parameter `fwd` of Cache-Status. */
  readonly #reason: string;
  readonly #inspect: ((head: ResponseHead) => void) | undefined;

  constructor(plan: CachePlan, reason: string, inspect?: (head: ResponseHead) => void) {
    this.#plan = plan;
    this.#reason = reason;
    this.#inspect = inspect;
  }

  onHead(exchange: Exchange, head: ResponseHead): TapVerdict {
    const { responseOperations, policy } = this.#plan;
    responseOperations?.apply(head.fields);
    head.fields.remove('x-trickster-result');
    this.#inspect?.(head);
    exchange.cacheResult = 'proxy-only';
    const cacheStatus = `fwd=${this.#reason}; fwd-status=${head.status}`;
    const flat = resultFields({ status: 'proxy-only', cacheStatus }, policy.resultHeader);
    for (let i = 0; i + 1 < flat.length; i += 2) head.fields.add(flat[i] ?? '', flat[i + 1] ?? '');
    return RELAY;
  }

  onData(): void {
    // Nothing is kept.
  }

  onEnd(): void {
    // Nothing is kept.
  }

  onAbort(): void {
    // Nothing is kept.
  }

  onFailure(): boolean {
    return false;
  }

  wantsRest(): boolean {
    return false;
  }
}
