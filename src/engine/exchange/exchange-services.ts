import type { Counters } from '../../telemetry/engine-counters.js';
import type { DeadlinePool } from './deadlines.js';
import type { ExchangeObserver } from './exchange-record.js';
import type { ResponseCache } from './response-cache.js';
import type { Router } from './route-entry.js';

/** What the exchanges of a worker share. */
export interface ExchangeServices {
  /** The tables of the newest revision: replaced as a whole; an exchange asks once, when it begins. */
  router: Router;
  /** Undefined: nothing is cached. */
  readonly cache: ResponseCache | undefined;
  readonly observer: ExchangeObserver;
  readonly counters: Counters;
  readonly deadlines: DeadlinePool;
}
