import type { Observable } from 'rxjs';

/**
 * The API server as this operator uses it: plain JSON in and out, no typed models (they drop unknown fields).
 * Every call rejects with a `KubeApiError`; nothing is retried here.
 */
export interface KubeClient {
  /** A request has been answered, the first one after others had no answer. Hot. */
  readonly recovered$: Observable<void>;
  /** One page. */
  list(path: string, query: ListQuery, signal?: AbortSignal): Promise<ListPage>;
  /** Lines of the watch stream, in batches as they arrive. Ends when the server ends it, throws when it breaks. */
  watch(path: string, query: WatchQuery, signal: AbortSignal): AsyncIterable<readonly string[]>;
  get(path: string, signal?: AbortSignal): Promise<unknown>;
  create(path: string, body: object, signal?: AbortSignal): Promise<unknown>;
  /** PUT; `body.metadata.resourceVersion` guards against lost updates. */
  replace(path: string, body: object, signal?: AbortSignal): Promise<unknown>;
  patch(path: string, patch: KubePatch, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

export interface Selection {
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface ListQuery extends Selection {
  /** Most items in one page. */
  readonly limit?: number;
  readonly continueToken?: string;
}

export interface ListPage {
  /** Raw items, each with `apiVersion` and `kind` filled in (typed lists leave them out). */
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continueToken?: string;
}

export interface WatchQuery extends Selection {
  readonly resourceVersion: string;
  /** After which the server ends the watch by itself. */
  readonly timeoutSeconds: number;
}

export type KubePatch =
  | { readonly type: 'apply'; readonly body: object; readonly fieldManager: string; readonly force?: boolean }
  | { readonly type: 'merge'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] };
