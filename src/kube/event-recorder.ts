import { createHash } from 'node:crypto';

import type { Logger } from '../telemetry/logger.js';
import type { Clock } from '../util/clock.js';
import { cutText } from '../util/cut-text.js';
import { messageOf } from '../util/errors.js';
import { backoffMs } from './backoff.js';
import { EventCorrelator } from './event-correlator.js';
import { numberAt } from './json.js';
import { isStatus, KubeApiError } from './kube-api-error.js';
import type { KubeClient } from './kube-client.js';
import type { LeadershipTerm } from './leadership.js';
import type { InvolvedObject, ObjectEvent } from './object-event.js';
import { collectionPath, objectPath } from './resource-path.js';
import { WorkQueue } from './work-queue.js';

export interface RecordOptions {
  readonly term: LeadershipTerm;
  /** What a predecessor has already said is not counted once more. */
  readonly unlessRecorded?: boolean;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'patch'>;
  /** Of this process: `reportingInstance`. */
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
}

interface Work extends RecordOptions {
  readonly event: ObjectEvent;
  attempts: number;
}

const EVENTS = { group: '', version: 'v1', plural: 'events', namespaced: true };
const COMPONENT = 'trickster-gateway';
const MAX_ATTEMPTS = 5;
const MAX_WAITING = 1000;
const RETRY = { initialMs: 500, maxMs: 10_000 };
const MAX_NAME = 253;
/** Bytes. */
const MAX_MESSAGE = 1024;

/**
 * Writes core/v1 Events, which `kubectl describe` shows. An event that repeats is one object with a count: its name
 * is made from what it says, so also the next leader finds it. Events are news, not state: when the API server does
 * not take one after some tries it is dropped and logged.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #queue: WorkQueue<Work>;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options.clock);
    this.#queue = new WorkQueue({
      handle: (name, work) => this.#handle(name, work),
      concurrency: 1,
      clock: options.clock,
    });
  }

  record(event: ObjectEvent, options: RecordOptions): void {
    const correlated = this.#correlator.admit(event);
    if (correlated === undefined || this.#queue.size >= MAX_WAITING) {
      this.#options.logger.debug({ reason: event.reason, name: event.object.name }, 'event dropped');
      return;
    }
    this.#queue.add(eventName(correlated), { ...options, event: correlated, attempts: 0 });
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  stop(): void {
    this.#queue.stop();
  }

  async #handle(name: string, work: Work): Promise<number | undefined> {
    const { term, event } = work;
    if (!term.isCurrent()) return undefined;
    try {
      await this.#write(name, work);
      return undefined;
    } catch (error) {
      return this.#again(work, event, error);
    }
  }

  async #write(name: string, { term, event, unlessRecorded = false }: Work): Promise<void> {
    const { client } = this.#options;
    const namespace = namespaceOf(event.object);
    try {
      await client.create(collectionPath(EVENTS, namespace), this.#body(name, event), term.signal);
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      if (!unlessRecorded && term.isCurrent()) await this.#repeat({ namespace, name }, event, term);
    }
  }

  async #repeat(
    key: { readonly namespace: string; readonly name: string },
    { message }: ObjectEvent,
    { signal }: LeadershipTerm,
  ): Promise<void> {
    const { client, clock } = this.#options;
    const path = objectPath(EVENTS, key);
    const count = (numberAt(await client.get(path, signal), 'count') ?? 1) + 1;
    const body = { count, message: cutText(message, MAX_MESSAGE), lastTimestamp: timestamp(clock.now()) };
    await client.patch(path, { type: 'merge', body }, signal);
  }

  #again(work: Work, { reason, object }: ObjectEvent, error: unknown): number | undefined {
    const { logger, random = Math.random } = this.#options;
    work.attempts += 1;
    const refused = error instanceof KubeApiError && [400, 403, 404, 422].includes(error.status);
    if (!work.term.isCurrent()) return undefined;
    if (refused || work.attempts >= MAX_ATTEMPTS) {
      const { kind, namespace, name } = object;
      logger.warn({ kind, namespace, name, reason, problem: messageOf(error) }, 'event not recorded');
      return undefined;
    }
    const wanted = error instanceof KubeApiError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(wanted, backoffMs(work.attempts, RETRY, random));
  }

  #body(name: string, { object, type, reason, message }: ObjectEvent): object {
    const { clock, identity } = this.#options;
    const { namespace, ...involved } = object;
    const now = timestamp(clock.now());
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: namespaceOf(object) },
      involvedObject: namespace === '' ? involved : { ...involved, namespace },
      type,
      reason,
      message: cutText(message, MAX_MESSAGE),
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      reportingInstance: identity,
    };
  }
}

/** Events of cluster-scoped objects live in `default`: the API server takes them nowhere else. */
function namespaceOf({ namespace }: InvolvedObject): string {
  return namespace === '' ? 'default' : namespace;
}

function eventName({ object, type, reason, message }: ObjectEvent): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([object.uid, type, reason, message]))
    .digest('hex')
    .slice(0, 16);
  // An object may have a name of 253 characters itself; no part of a name may end in a dot or dash.
  const prefix = object.name.slice(0, MAX_NAME - hash.length - 1).replace(/[.-]+$/, '');
  return `${prefix}.${hash}`;
}

/** Kubernetes' Time has whole seconds. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
