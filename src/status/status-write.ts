import type { PlannedStatus } from '../graph/status-plan.js';
import { backoffMs } from '../kube/backoff.js';
import type { JsonObject } from '../kube/json.js';
import { isStatus, KubeApiError } from '../kube/kube-api-error.js';
import type { LeadershipTerm } from '../kube/leadership.js';
import { objectPath, type ServedKind } from '../kube/resource-path.js';
import { textOf, toObserved, type ObservedStatus, type StatusKey } from '../kube/status-cache.js';
import type { TokenBucket } from '../kube/token-bucket.js';
import { messageOf } from '../util/errors.js';
import { mergeStatus } from './merge-status.js';
import type { StatusWriterOptions } from './status-writer-options.js';

export type WriteOutcome =
  /** The status is as planned; `stored` is what the API server holds. */
  | { readonly result: 'settled'; readonly stored: unknown; readonly wrote: boolean }
  /** There is nothing to write it onto: the object went, was made anew, or has a newer generation. */
  | { readonly result: 'dropped' }
  | { readonly result: 'retry'; readonly afterMs: number };

const DROPPED: WriteOutcome = { result: 'dropped' };

/** Another writer was faster: soon again, but never more than a few times a second, and never after minutes. */
const CONFLICT_BACKOFF = { initialMs: 100, maxMs: 2_000 };
const ERROR_BACKOFF = { initialMs: 500, maxMs: 60_000 };

/** One object's read, replace and write. */
export class StatusWrite {
  readonly #options: StatusWriterOptions;
  readonly #limiter: TokenBucket;
  /** In a row, by object. */
  readonly #failures = new Map<string, number>();

  constructor(options: StatusWriterOptions, limiter: TokenBucket) {
    this.#options = options;
    this.#limiter = limiter;
  }

  /** Never rejects. */
  async attempt(key: StatusKey, planned: PlannedStatus, term: LeadershipTerm): Promise<WriteOutcome> {
    const served = this.#options.findKind(key.kind);
    if (served === undefined) return DROPPED;
    try {
      const outcome = await this.#write(key, planned, { served, term });
      this.#failures.delete(textOf(key));
      return outcome;
    } catch (error) {
      return this.#failed(key, error, term);
    }
  }

  async #write(
    key: StatusKey,
    planned: PlannedStatus,
    { served, term }: { readonly served: ServedKind; readonly term: LeadershipTerm },
  ): Promise<WriteOutcome> {
    const { client, statuses, controllerName, clock, metrics } = this.#options;
    const path = objectPath(served, planned.object);
    const current = await this.#current(key, planned, { path, term });
    if (!isAbout(planned, current)) return DROPPED;
    const status = mergeStatus(current.status, planned, { controllerName, now: clock.now() });
    if (status === undefined) return { result: 'settled', stored: current.status, wrote: false };

    await this.#limiter.take(term.signal);
    // The last look before the write: whoever lost the Lease meanwhile says nothing more.
    if (!term.isCurrent()) return DROPPED;
    const body = toBody(planned, current, status);
    const stored = toObserved(await client.replace(`${path}/status`, body, term.signal));
    metrics.written(key.kind);
    statuses.correct(key, stored);
    return { result: 'settled', stored: stored.status, wrote: true };
  }

  /** As the watch has it; after a conflict, or when the watch is behind the plan, it is read. */
  async #current(
    key: StatusKey,
    planned: PlannedStatus,
    { path, term }: { readonly path: string; readonly term: LeadershipTerm },
  ): Promise<ObservedStatus> {
    const { client, statuses } = this.#options;
    const known = statuses.get(key);
    const failed = this.#failures.has(textOf(key));
    if (known !== undefined && known.generation >= planned.generation && !failed) return known;
    await this.#limiter.take(term.signal);
    const observed = toObserved(await client.get(path, term.signal));
    statuses.correct(key, observed);
    return observed;
  }

  #failed(key: StatusKey, error: unknown, term: LeadershipTerm): WriteOutcome {
    if (!term.isCurrent()) return DROPPED;
    if (isStatus(error, 404)) return DROPPED;
    const { logger, metrics, random = Math.random } = this.#options;
    const text = textOf(key);
    const failures = this.#failures.get(text) ?? 0;
    this.#failures.set(text, failures + 1);
    if (isStatus(error, 409)) {
      return { result: 'retry', afterMs: backoffMs(failures, CONFLICT_BACKOFF, random) };
    }

    metrics.failed(key.kind);
    const fields = { kind: key.kind, key: key.key, problem: messageOf(error) };
    if (error instanceof KubeApiError && (error.status === 400 || error.status === 422)) {
      // The same again would be refused again: as it is, so it stays, until something changes.
      logger.error(fields, 'status refused by the API server');
      this.#failures.delete(text);
      return { result: 'settled', stored: this.#options.statuses.get(key)?.status, wrote: false };
    }
    logger.warn(fields, 'status not written');
    const wanted = error instanceof KubeApiError ? (error.retryAfterMs ?? 0) : 0;
    return { result: 'retry', afterMs: Math.max(wanted, backoffMs(failures, ERROR_BACKOFF, random)) };
  }
}

/** A verdict about an object is none about its successor, of the same name or of the next generation. */
function isAbout({ object, generation }: PlannedStatus, current: ObservedStatus): boolean {
  return current.uid === object.uid && current.generation === generation;
}

function toBody({ object }: PlannedStatus, current: ObservedStatus, status: JsonObject): object {
  const { kind, namespace, name, uid } = object;
  return {
    apiVersion: current.apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      uid,
      resourceVersion: current.resourceVersion,
    },
    status,
  };
}
