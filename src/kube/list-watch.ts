import { Observable } from 'rxjs';

import { isStatus } from './kube-api-error.js';
import type { KubeClient, ListPage, Selection } from './kube-client.js';

/** Everything that is there, and from which version on a watch goes on. */
export interface RawList {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
}

/** The two questions a Reflector asks. Both Observables start their request when subscribed and end it when unsubscribed. */
export interface ListWatch {
  /** All pages as one value. */
  list(): Observable<RawList>;
  /** Lines of the watch stream in batches; completes when the server ends it. */
  watch(resourceVersion: string): Observable<readonly string[]>;
}

export interface ListTarget extends Selection {
  readonly path: string;
}

const PAGE_SIZE = 500;
/** As client-go does: between five and ten minutes, so that watches of many clients do not end together. */
const WATCH_SECONDS = 300;

/** Lists and watches one path of the API server. */
export class KubeListWatch implements ListWatch {
  readonly #client: KubeClient;
  readonly #target: ListTarget;
  readonly #random: () => number;

  constructor(client: KubeClient, target: ListTarget, random = Math.random) {
    this.#client = client;
    this.#target = target;
    this.#random = random;
  }

  list(): Observable<RawList> {
    return new Observable((subscriber) => {
      const abort = new AbortController();
      listAll(this.#client, this.#target, abort.signal).then(
        (list) => {
          subscriber.next(list);
          subscriber.complete();
        },
        (error: unknown) => {
          subscriber.error(error);
        },
      );
      return () => {
        abort.abort();
      };
    });
  }

  watch(resourceVersion: string): Observable<readonly string[]> {
    return new Observable((subscriber) => {
      const abort = new AbortController();
      const { path, ...selection } = this.#target;
      const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + this.#random()));
      const lines = this.#client.watch(path, { ...selection, resourceVersion, timeoutSeconds }, abort.signal);
      const read = async (): Promise<void> => {
        for await (const batch of lines) subscriber.next(batch);
      };
      read().then(
        () => {
          subscriber.complete();
        },
        (error: unknown) => {
          subscriber.error(error);
        },
      );
      return () => {
        abort.abort();
      };
    });
  }
}

async function listAll(client: KubeClient, target: ListTarget, signal: AbortSignal): Promise<RawList> {
  try {
    return await listPages(client, target, signal, PAGE_SIZE);
  } catch (error) {
    // A continue token lives for some minutes; when it died on the way, one request for everything ends it.
    if (isStatus(error, 410)) return listPages(client, target, signal, undefined);
    throw error;
  }
}

async function listPages(
  client: KubeClient,
  { path, ...selection }: ListTarget,
  signal: AbortSignal,
  limit: number | undefined,
): Promise<RawList> {
  const items: unknown[] = [];
  let page: ListPage | undefined;
  do {
    const continueToken = page?.continueToken;
    const query = {
      ...selection,
      ...(limit === undefined ? {} : { limit }),
      ...(continueToken === undefined ? {} : { continueToken }),
    };
    page = await client.list(path, query, signal);
    for (const item of page.items) items.push(item);
  } while (page.continueToken !== undefined);
  return { items, resourceVersion: page.resourceVersion };
}
