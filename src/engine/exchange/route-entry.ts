/**
 * What routing gives to an exchange: a request goes in, the rule that serves it comes out, compiled. Everything here
 * is immutable and made once per revision, so a request that holds an entry sees one revision to its end.
 */
import type { CachePolicy } from '../../ir/cache-policy.js';
import type { RetryPolicy } from '../../ir/http.js';
import type { Refusal } from '../../ir/upstream.js';
import type { DownstreamContext } from './downstream.js';
import type { Exchange } from './exchange.js';
import type { RequestHead, ResponseHead } from './heads.js';
import type { UpstreamTarget } from './upstream.js';

/** No virtual host or rule matches. */
export const NO_ROUTE = 404;
/** The server that SNI chose is not the one that the authority chooses (RFC 9110 section 15.5.20). */
export const MISDIRECTED = 421;

export interface Router {
  /** Must not throw; must not keep the head. */
  route(context: DownstreamContext, head: RequestHead): RouteEntry | typeof NO_ROUTE | typeof MISDIRECTED;
}

/** One match of a rule. */
export interface RouteEntry {
  readonly rule: RuleEntry;
  /** Value of the prefix match that was met (`''` for `/`); undefined for exact and regex matches. */
  readonly matchedPrefix: string | undefined;
}

export interface RuleEntry {
  /** `HttpRoute.key`. */
  readonly route: string;
  readonly kind: 'HTTPRoute' | 'GRPCRoute';
  readonly index: number;
  readonly name: string | undefined;
  /** Answer this, whatever else is set. */
  readonly refusal: Refusal | undefined;
  /** In order; empty for a plain rule. */
  readonly requestSteps: readonly RequestStep[];
  readonly responseSteps: readonly ResponseStep[];
  /** Empty when a step always answers (redirect). Otherwise an empty list answers 500. */
  readonly backends: BackendChoice;
  /** 0: none. */
  readonly requestMs: number;
  readonly backendRequestMs: number;
  /**
   * Longest wait for the head of a response, in ms, counted from the last byte of the request; 0: none. The engine's
   * default (60 s) where the rule gives neither timeout, else 0: what a rule says is never cut short.
   */
  readonly awaitHeadMs: number;
  readonly retry: RetryPolicy | undefined;
  readonly affinity: Affinity | undefined;
}

export interface BackendEntry {
  readonly weight: number;
  /** Undefined exactly when `refusal` is given. */
  readonly upstream: UpstreamTarget | undefined;
  readonly refusal: Refusal | undefined;
  /** After the rule's. */
  readonly requestSteps: readonly RequestStep[];
  readonly responseSteps: readonly ResponseStep[];
  /** The effective policy: the backend's, else the rule's. Undefined or `handler: 'proxy'`: the cache is not asked. */
  readonly policy: CachePolicy | undefined;
}

/** Chooses among a rule's backends by weight; `WeightedBackends` in upstream/ is the one. */
export interface BackendChoice {
  readonly entries: readonly BackendEntry[];
  /** Undefined when there is none or all weights are zero: 500. */
  next(): BackendEntry | undefined;
}

/** Go on with the next step. */
export const CONTINUE = 0;
/** The step has answered (`exchange.answer`, `exchange.refuse`): nothing more runs. */
export const ANSWERED = 1;
/** The step waits for something and calls `exchange.proceed()` (or answers) later. The body is held back. */
export const SUSPENDED = 2;
export type StepOutcome = typeof CONTINUE | typeof ANSWERED | typeof SUSPENDED;

/** Changes `exchange.request`, answers, or suspends. Made once per rule; keeps no state of a request. */
export interface RequestStep {
  run(exchange: Exchange): StepOutcome;
}

/** Changes the head of a response from a backend or the cache, 101 included. Answers of the gateway are not touched. */
export interface ResponseStep {
  run(exchange: Exchange, head: ResponseHead): void;
}

/** Session persistence (GEP-1619). */
export interface Affinity {
  /** Before the choice by weight. The entry must be one of the rule's; `endpoint` is `address:port`. */
  find(exchange: Exchange): { readonly backend: BackendEntry; readonly endpoint: string } | undefined;
  /** With the head of the response; `exchange.endpoint` says who answered. */
  remember(exchange: Exchange, head: ResponseHead): void;
}
