import { PASS, FETCH } from './response-cache.js';
import type { RequestBodyTap } from './exchange.js';
import { addRequestFields } from './own-fields.js';
import { Piece } from './piece.js';
import { RespondingExchange } from './responding-exchange.js';
import { CONTINUE, SUSPENDED, type RequestStep, type RouteEntry, type StepOutcome } from './route-entry.js';

const RULE_STEPS = 0;
const BACKEND_STEPS = 1;
/** The cache was asked, or is not concerned. */
const ADMITTED = 2;

/** The way of a request from its route to its backend: steps, choice of the backend, cache. */
export abstract class StagedExchange extends RespondingExchange {
  /** Endpoint that session persistence or a second try asks for. */
  protected preferred: string | undefined = undefined;
  #stage = RULE_STEPS;
  #step = 0;
  /** A step is running: what it calls is not to go on under it. */
  #stepping = false;
  #proceeded = false;

  /** The body of the request waits. */
  protected abstract hold(): void;

  tapBody(tap: RequestBodyTap): void {
    this.body.tap(tap, new Piece());
  }

  protected findRoute(): void {
    const found = this.services.router.route(this.context, this.request);
    if (typeof found === 'number') {
      this.refuse(found, found === 421 ? 'another server answers for the host' : 'no rule matches');
    } else this.#enter(found);
  }

  /** Steps and cache are passed by. */
  protected skipStages(): void {
    this.#stage = ADMITTED;
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
    if (limit >= 0 && (this.request.contentLength > limit || this.body.bytes > limit)) {
      this.refuse(413, 'the body of the request is too large');
      return;
    }
    this.awaitRequest(rule.requestMs);
    addRequestFields(this.request, this.context);
    this.#advance();
  }

  proceed(): void {
    if (this.#stepping) this.#proceeded = true;
    else if (!this.closed && !this.responded) this.#advance();
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
      if (outcome === SUSPENDED) this.hold();
      if (outcome !== CONTINUE || this.closed || this.responded) return false;
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
    this.preferred = kept?.endpoint;
    const backend = kept ? kept.backend : rule.backends.next();
    this.backend = backend;
    if (!backend) this.refuse(500, 'the rule has no backend');
    else if (backend.refusal) this.refuse(backend.refusal.status, backend.refusal.reason);
    else return true;
    return false;
  }

  /** False: the cache answers, or will say when to go on. */
  #admit(): boolean {
    const { cache } = this.services;
    if (!cache || this.backend?.policy?.handler !== 'proxycache' || this.request.upgrade !== '') return true;
    const verdict = cache.admit(this);
    return verdict === PASS || verdict === FETCH;
  }
}
