import {
  asyncScheduler,
  concatMap,
  defer,
  delay,
  EMPTY,
  of,
  race,
  repeat,
  shareReplay,
  Subject,
  timer,
  type Observable,
  type SchedulerLike,
} from 'rxjs';

import { KINDS, type Kind, type KindDescription } from '../apis/kinds.js';
import type { Logger } from '../telemetry/logger.js';
import { groupBy } from '../util/collections.js';
import { messageOf } from '../util/errors.js';
import { listAt, textAt } from './json.js';
import { isStatus } from './kube-api-error.js';
import type { KubeClient } from './kube-client.js';
import { apiVersionOf, type ServedKind } from './resource-path.js';
import { sameValue } from './same-value.js';

/** The kinds that the API server serves, each in the preferred one of its versions. */
export type ServedKinds = ReadonlyMap<Kind, ServedKind>;

export interface DiscoveryOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly logger: Logger;
  readonly kinds?: readonly KindDescription[];
  readonly intervalMs?: number;
  readonly scheduler?: SchedulerLike;
}

const INTERVAL_MS = 60_000;
/** While something that must be there is missing, or something seems to have gone. */
const HURRIED_MS = 5_000;
/** Several watches that end at once ask once. */
const SOON_MS = 500;

/**
 * Learns which kinds there are, again and again. A group version that does not answer keeps its last answer; a kind
 * counts as gone only when two probes in a row do not see it, since an API server that starts may not know its CRDs yet.
 */
export class Discovery {
  /** State: starts when every group version has answered once; then only changes. Never fails. */
  readonly served$: Observable<ServedKinds>;
  readonly #options: DiscoveryOptions;
  readonly #kinds: readonly KindDescription[];
  readonly #soon$ = new Subject<void>();
  /** Plurals by `group/version`. */
  readonly #answers = new Map<string, ReadonlySet<string>>();
  #served: ServedKinds | undefined;
  #suspects: ReadonlySet<Kind> = new Set();
  #reported = '';

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? KINDS;
    const { scheduler = asyncScheduler, intervalMs = INTERVAL_MS } = options;
    this.served$ = defer(() => this.#probe()).pipe(
      repeat({
        delay: () =>
          race(
            timer(this.#hurried() ? Math.min(HURRIED_MS, intervalMs) : intervalMs, scheduler),
            this.#soon$.pipe(delay(SOON_MS, scheduler)),
          ),
      }),
      concatMap((served) => {
        if (this.#served !== undefined && sameValue([...this.#served], [...served])) return EMPTY;
        this.#served = served;
        return of(served);
      }),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
  }

  /** What was found last; for those who write. */
  find(kind: Kind): ServedKind | undefined {
    return this.#served?.get(kind);
  }

  /** A watch was told that its kind is not there: look before the next turn. */
  probeSoon(): void {
    this.#soon$.next();
  }

  #hurried(): boolean {
    return this.#served === undefined || this.#suspects.size > 0 || this.#missingRequired().length > 0;
  }

  async *#probe(): AsyncGenerator<ServedKinds> {
    const byVersion = groupBy(
      this.#kinds.flatMap(({ group, versions }) =>
        versions.map((version) => apiVersionOf({ group, version })),
      ),
      (apiVersion) => apiVersion,
    );
    await Promise.all([...byVersion.keys()].map((apiVersion) => this.#ask(apiVersion)));
    if ([...byVersion.keys()].every((apiVersion) => this.#answers.has(apiVersion))) yield this.#resolve();
  }

  async #ask(apiVersion: string): Promise<void> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    try {
      const list = await this.#options.client.get(path);
      const names = listAt(list, 'resources').map((resource) => textAt(resource, 'name') ?? '');
      this.#answers.set(apiVersion, new Set(names));
    } catch (error) {
      if (isStatus(error, 404)) this.#answers.set(apiVersion, new Set());
      else this.#options.logger.warn({ apiVersion, problem: messageOf(error) }, 'discovery failed');
    }
  }

  #resolve(): ServedKinds {
    const served = new Map<Kind, ServedKind>();
    const suspects = new Set<Kind>();
    for (const description of this.#kinds) {
      const { kind } = description;
      const found = this.#find(description);
      const before = this.#served?.get(kind);
      if (found !== undefined) served.set(kind, found);
      else if (before !== undefined && !this.#suspects.has(kind)) {
        suspects.add(kind);
        served.set(kind, before);
      }
    }
    this.#suspects = suspects;
    this.#report(served);
    return served;
  }

  #find({ group, versions, plural, namespaced }: KindDescription): ServedKind | undefined {
    const version = versions.find((candidate) =>
      this.#answers.get(apiVersionOf({ group, version: candidate }))?.has(plural),
    );
    return version === undefined ? undefined : { group, version, plural, namespaced };
  }

  #report(served: ServedKinds): void {
    const missing = this.#kinds.filter(({ kind, required }) => required && !served.has(kind));
    const kinds = missing.map(({ kind, group }) => (group === '' ? kind : `${kind}.${group}`));
    if (kinds.join() === this.#reported) return;
    this.#reported = kinds.join();
    if (kinds.length > 0) {
      this.#options.logger.warn({ kinds }, 'waiting for required kinds: are the Gateway API CRDs installed?');
    } else this.#options.logger.info('all required kinds are served');
  }

  #missingRequired(): readonly KindDescription[] {
    return this.#kinds.filter(({ kind, required }) => required && this.#served?.has(kind) !== true);
  }
}
