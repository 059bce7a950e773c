import type { Observable } from 'rxjs';
import { request, type Dispatcher } from 'undici';

import { messageOf } from '../util/errors.js';
import { isJsonObject, listAt, textAt } from './json.js';
import { KubeApiError, refusal } from './kube-api-error.js';
import type { KubeAuthentication } from './kube-authentication.js';
import type { KubeClient, KubePatch, ListPage, ListQuery, Selection, WatchQuery } from './kube-client.js';
import { LineSplitter } from './line-splitter.js';
import { Reachability } from './reachability.js';

/** The API server itself gives up after a minute; a little more lets its own answer through. */
const ANSWER_TIMEOUT_MS = 70_000;
/** etcd takes no object above some megabytes. */
const MAX_LINE_LENGTH = 16 * 1024 * 1024;
const MAX_STATUS_LENGTH = 64 * 1024;

const CONTENT_TYPES: Readonly<Record<KubePatch['type'], string>> = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
  readonly contentType?: string;
  readonly signal: AbortSignal | undefined;
  /** A stream may be silent for as long as it likes. */
  readonly streams?: boolean;
}

/**
 * Talks JSON over HTTP/1.1 with undici. In: API paths; out: parsed bodies. It keeps no state but connections and whether
 * the last request was answered.
 */
export class HttpKubeClient implements KubeClient {
  readonly recovered$: Observable<void>;
  readonly #reachability = new Reachability();
  readonly #authentication: KubeAuthentication;
  readonly #userAgent: string;

  constructor(authentication: KubeAuthentication, userAgent: string) {
    this.#authentication = authentication;
    this.#userAgent = userAgent;
    this.recovered$ = this.#reachability.recovered$;
  }

  async list(path: string, query: ListQuery, signal?: AbortSignal): Promise<ListPage> {
    const { limit, continueToken } = query;
    const body = await this.#json({
      method: 'GET',
      path,
      query: { ...selection(query), limit, continue: continueToken },
      signal,
    });
    return toPage(path, body);
  }

  async *watch(path: string, query: WatchQuery, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const { resourceVersion, timeoutSeconds } = query;
    const call: Call = {
      method: 'GET',
      path,
      query: { ...selection(query), watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds },
      signal,
      streams: true,
    };
    const answer = await this.#send(call);
    const splitter = new LineSplitter(MAX_LINE_LENGTH);
    try {
      for await (const chunk of answer.body) {
        const lines = splitter.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
        if (lines.length > 0) yield lines;
      }
      const rest = splitter.end();
      if (rest.length > 0) yield rest;
    } catch (error) {
      throw unanswered(call, error);
    }
  }

  get(path: string, signal?: AbortSignal): Promise<unknown> {
    return this.#json({ method: 'GET', path, signal });
  }

  create(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return this.#json({ method: 'POST', path, body, signal });
  }

  replace(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return this.#json({ method: 'PUT', path, body, signal });
  }

  patch(path: string, patch: KubePatch, signal?: AbortSignal): Promise<unknown> {
    const query =
      patch.type === 'apply' ? { fieldManager: patch.fieldManager, force: patch.force ?? false } : {};
    const contentType = CONTENT_TYPES[patch.type];
    return this.#json({ method: 'PATCH', path, query, body: patch.body, contentType, signal });
  }

  close(): Promise<void> {
    return this.#authentication.close();
  }

  async #json(call: Call): Promise<unknown> {
    const answer = await this.#send(call);
    try {
      return await answer.body.json();
    } catch (error) {
      throw unanswered(call, error);
    }
  }

  /** Rejects unless the answer is a success. */
  async #send(call: Call): Promise<Dispatcher.ResponseData> {
    let answer: Dispatcher.ResponseData;
    try {
      answer = await this.#request(call);
    } catch (error) {
      if (call.signal?.aborted !== true) this.#reachability.saw(0);
      throw unanswered(call, error);
    }
    this.#reachability.saw(answer.statusCode);
    if (answer.statusCode < 300) return answer;

    if (answer.statusCode === 401) this.#authentication.refused();
    const retryAfter = answer.headers['retry-after'];
    const status = parseStatus(await answer.body.text().catch(() => ''));
    throw refusal(
      describe(call),
      answer.statusCode,
      status,
      typeof retryAfter === 'string' ? retryAfter : undefined,
    );
  }

  async #request(call: Call): Promise<Dispatcher.ResponseData> {
    const { server, headers, dispatcher } = await this.#authentication.access();
    return request(`${server}${call.path}${queryString(call.query ?? {})}`, {
      method: call.method,
      headers: {
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
        ...headers,
      },
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: call.streams === true ? 0 : ANSWER_TIMEOUT_MS,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
  }
}

function selection({ fieldSelector, labelSelector }: Selection): Query {
  return { fieldSelector, labelSelector };
}

function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function describe({ method, path }: Call): string {
  return `${method} ${path}`;
}

function unanswered(call: Call, error: unknown): KubeApiError {
  if (error instanceof KubeApiError) return error;
  return new KubeApiError(`${describe(call)}: ${messageOf(error)}`, {
    status: 0,
    reason: 'network',
    cause: error,
  });
}

function parseStatus(text: string): unknown {
  try {
    return JSON.parse(text.slice(0, MAX_STATUS_LENGTH));
  } catch {
    // Something between us and the API server may answer in its own words.
    return { message: text.slice(0, 200) };
  }
}

function toPage(path: string, body: unknown): ListPage {
  const resourceVersion = textAt(body, 'metadata', 'resourceVersion');
  if (resourceVersion === undefined || !isJsonObject(body) || !('items' in body)) {
    throw new KubeApiError(`GET ${path}: the answer is no list`, { status: 0, reason: 'malformed' });
  }
  const apiVersion = textAt(body, 'apiVersion');
  const kind = textAt(body, 'kind')?.replace(/List$/, '');
  const continueToken = textAt(body, 'metadata', 'continue');
  return {
    // `items` is null when a Go server has none.
    items: listAt(body, 'items').map((item) => (isJsonObject(item) ? { apiVersion, kind, ...item } : item)),
    resourceVersion,
    ...(continueToken === undefined || continueToken === '' ? {} : { continueToken }),
  };
}
