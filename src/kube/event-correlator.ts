import type { Clock } from '../util/clock.js';
import type { ObjectEvent } from './object-event.js';
import { TokenBucket } from './token-bucket.js';

/** More messages than this of one object, type and reason within the window are told as one. */
const MAX_SIMILAR = 10;
const WINDOW_MS = 600_000;
/** Of one object: 25 at once, then one in five minutes, as client-go does. */
const PER_OBJECT = { perSecond: 1 / 300, burst: 25 };
const MAX_REMEMBERED = 4096;

interface Similar {
  readonly since: number;
  readonly messages: Set<string>;
}

/** Keeps an object that is in trouble from flooding the API server with Events. */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #similar = new Map<string, Similar>();
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The event to record in its place; undefined when it is one too many. */
  admit(event: ObjectEvent): ObjectEvent | undefined {
    if (!this.#bucketOf(event.object.uid).tryTake()) return undefined;
    const { messages } = this.#similarTo(event);
    messages.add(event.message);
    if (messages.size <= MAX_SIMILAR) return event;
    return { ...event, message: '(combined from similar events): further problems of this kind' };
  }

  #bucketOf(uid: string): TokenBucket {
    const bucket = this.#buckets.get(uid) ?? new TokenBucket(PER_OBJECT, this.#clock);
    remember(this.#buckets, uid, bucket);
    return bucket;
  }

  #similarTo({ object, type, reason }: ObjectEvent): Similar {
    const key = [object.uid, type, reason].join('\0');
    const now = this.#clock.now();
    const known = this.#similar.get(key);
    const similar =
      known !== undefined && now - known.since < WINDOW_MS
        ? known
        : { since: now, messages: new Set<string>() };
    remember(this.#similar, key, similar);
    return similar;
  }
}

/** The oldest goes when there are too many. */
function remember<V>(values: Map<string, V>, key: string, value: V): void {
  values.delete(key);
  values.set(key, value);
  if (values.size <= MAX_REMEMBERED) return;
  for (const oldest of values.keys()) {
    values.delete(oldest);
    return;
  }
}
