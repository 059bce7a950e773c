import { Subject, type Observable } from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import { listAt, numberAt, textAt, valueAt } from './json.js';

/** Hears of every raw object that a source reads, before anything is cut from it. */
export interface RawObserver {
  seen(key: string, raw: unknown): void;
  gone(key: string): void;
}

/** What the API server holds as the status of an object, as last heard. */
export interface ObservedStatus {
  readonly apiVersion: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** Untouched, so that entries of others can be written back byte for byte. */
  readonly status: unknown;
}

export interface StatusKey {
  readonly kind: Kind;
  /** `namespace/name`, or `name`. */
  readonly key: string;
}

/** One text for an object of any kind. */
export function textOf({ kind, key }: StatusKey): string {
  return `${kind} ${key}`;
}

/**
 * The statuses that the watches bring along. With them, a status is written without being read first, a change by
 * somebody else is noticed, and entries that this controller left on objects it no longer knows are found.
 */
export class StatusCache {
  readonly #controllerName: string;
  readonly #observed = new Map<string, ObservedStatus>();
  readonly #claimed = new Map<string, StatusKey>();
  readonly #changes$ = new Subject<StatusKey>();
  /** Objects whose status may differ from what was last written. */
  readonly changes$: Observable<StatusKey> = this.#changes$.asObservable();

  constructor(controllerName: string) {
    this.#controllerName = controllerName;
  }

  observer(kind: Kind): RawObserver {
    return {
      seen: (key, raw) => {
        this.correct({ kind, key }, toObserved(raw));
        this.#changes$.next({ kind, key });
      },
      gone: (key) => {
        const text = textOf({ kind, key });
        this.#observed.delete(text);
        this.#claimed.delete(text);
      },
    };
  }

  get(key: StatusKey): ObservedStatus | undefined {
    return this.#observed.get(textOf(key));
  }

  /** What a write or a read answered: newer than what the watch has said, which will catch up. No change is told. */
  correct(key: StatusKey, observed: ObservedStatus): void {
    const text = textOf(key);
    this.#observed.set(text, observed);
    if (this.#claims(observed.status)) this.#claimed.set(text, key);
    else this.#claimed.delete(text);
  }

  /** Objects with entries of this controller in `status.parents` or `status.ancestors`, by their text. */
  claimed(): ReadonlyMap<string, StatusKey> {
    return this.#claimed;
  }

  #claims(status: unknown): boolean {
    return [...listAt(status, 'parents'), ...listAt(status, 'ancestors')].some(
      (entry) => textAt(entry, 'controllerName') === this.#controllerName,
    );
  }
}

export function toObserved(raw: unknown): ObservedStatus {
  return {
    apiVersion: textAt(raw, 'apiVersion') ?? '',
    uid: textAt(raw, 'metadata', 'uid') ?? '',
    generation: numberAt(raw, 'metadata', 'generation') ?? 0,
    resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
    status: valueAt(raw, 'status'),
  };
}
