import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { isJsonObject, textAt, valueAt, type JsonObject } from '../../src/kube/json.js';

/** What a request gets in place of an answer. */
export type Fault =
  | { readonly status: number; readonly retryAfter?: number; readonly message?: string }
  /** The connection is reset: before the answer, or in the middle of a watch. */
  | { readonly reset: true }
  /** No answer, ever. */
  | { readonly hang: true }
  /** The answer, but later. */
  | { readonly delayMs: number }
  /** Sent as the first bytes of a watch, which then goes on. */
  | { readonly garbage: string }
  /** This body in place of the answer, as a success. */
  | { readonly body: string };

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

interface Planned {
  readonly matches: (request: SeenRequest) => boolean;
  readonly fault: Fault;
  left: number;
}

interface Watcher {
  readonly collection: string;
  readonly selects: (object: JsonObject) => boolean;
  readonly response: ServerResponse;
}

interface Change {
  readonly version: number;
  readonly collection: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: JsonObject;
  readonly before: JsonObject | undefined;
}

/**
 * A small API server for faults that a real one does not make on demand: pages, 410, 429, 5xx, resets, silence,
 * garbage. It stores objects by path, watches, checks resourceVersion and uid, and keeps `status` apart; it validates
 * nothing else.
 */
export class FakeApiServer {
  readonly requests: SeenRequest[] = [];
  /** Plurals by `group/version` (`v1` for core). */
  readonly served = new Map<string, readonly string[]>();
  readonly #server: Server;
  readonly #objects = new Map<string, JsonObject>();
  readonly #changes: Change[] = [];
  readonly #watchers = new Set<Watcher>();
  readonly #faults: Planned[] = [];
  #version = 100;
  #oldest = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  static async start(): Promise<FakeApiServer> {
    const server = new FakeApiServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    // A TCP server has such an address once it listens.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** The next `times` requests that match get this fault; the first that was planned counts. */
  plan(matches: (request: SeenRequest) => boolean, fault: Fault, times = 1): void {
    this.#faults.push({ matches, fault, left: times });
  }

  /** Creates or replaces, spec and status. Path such as `/apis/g/v1/namespaces/ns/things/a`. */
  put(path: string, object: object): JsonObject {
    const before = this.#objects.get(path);
    const metadata = valueAt(object, 'metadata');
    const name = path.slice(path.lastIndexOf('/') + 1);
    const namespace = /\/namespaces\/([^/]+)\/[^/]+\/[^/]+$/.exec(path)?.[1];
    const stored = {
      ...object,
      metadata: {
        uid: `uid-${name}`,
        generation: 1,
        ...(namespace === undefined ? {} : { namespace }),
        ...(isJsonObject(metadata) ? metadata : {}),
        name,
        resourceVersion: String(++this.#version),
      },
    };
    this.#objects.set(path, stored);
    this.#changed(path, before === undefined ? 'ADDED' : 'MODIFIED', stored, before);
    return stored;
  }

  read(path: string): JsonObject | undefined {
    return this.#objects.get(path);
  }

  remove(path: string): void {
    const before = this.#objects.get(path);
    if (before === undefined) return;
    this.#objects.delete(path);
    const metadata = { ...metadataOf(before), resourceVersion: String(++this.#version) };
    this.#changed(path, 'DELETED', { ...before, metadata }, before);
  }

  /** Versions up to now can no longer be watched from. */
  compact(): void {
    this.#oldest = this.#version;
    this.#changes.length = 0;
  }

  /** Tells all watchers how far they are. */
  bookmark(): void {
    const metadata = { resourceVersion: String(this.#version) };
    for (const { response } of this.#watchers) send(response, 'BOOKMARK', { metadata });
  }

  /** Ends all watches: in order, or with a reset. */
  endWatches(how: 'end' | 'reset' = 'end'): void {
    const ended = [...this.#watchers];
    // What changes from now on is for the watches that follow.
    this.#watchers.clear();
    for (const { response } of ended) {
      if (how === 'end') response.end();
      else response.socket?.resetAndDestroy();
    }
  }

  get watching(): number {
    return this.#watchers.size;
  }

  count(method: string, path: string): number {
    return this.requests.filter((request) => request.method === method && request.path === path).length;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    const url = new URL(incoming.url ?? '/', 'http://api');
    const request: SeenRequest = {
      method: incoming.method ?? '',
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    this.requests.push(request);
    const fault = this.#takeFault(request);
    if (fault !== undefined && 'delayMs' in fault) {
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    } else if (fault !== undefined && !('garbage' in fault)) {
      spoil(response, fault);
      return;
    }
    if (response.destroyed) return;
    this.#serve(request, response, fault !== undefined && 'garbage' in fault ? fault.garbage : undefined);
  }

  #takeFault(request: SeenRequest): Fault | undefined {
    const planned = this.#faults.find(({ left, matches }) => left > 0 && matches(request));
    if (planned === undefined) return undefined;
    planned.left -= 1;
    return planned.fault;
  }

  #serve(request: SeenRequest, response: ServerResponse, garbage: string | undefined): void {
    const { method, path, query } = request;
    const groupVersion = groupVersionOf(path);
    if (groupVersion !== undefined && method === 'GET') {
      this.#discover(groupVersion, response);
    } else if (method === 'GET' && query.get('watch') === 'true') {
      this.#watch(request, response, garbage);
    } else if (method === 'GET') {
      const object = this.#objects.get(path);
      if (object !== undefined) reply(response, 200, object);
      else if (isCollection(path)) this.#list(request, response);
      else refuse(response, 404, 'NotFound', `${path} not found`);
    } else if (method === 'POST') this.#create(request, response);
    else this.#update(request, response);
  }

  #discover(groupVersion: string, response: ServerResponse): void {
    const plurals = this.served.get(groupVersion);
    if (plurals === undefined) refuse(response, 404, 'NotFound', `${groupVersion} is not served`);
    else reply(response, 200, { kind: 'APIResourceList', resources: plurals.map((name) => ({ name })) });
  }

  #list({ path, query }: SeenRequest, response: ServerResponse): void {
    const selects = selector(query);
    const all = [...this.#objects]
      .filter(([key, object]) => belongs(key, path) && selects(object))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
    const limit = Number(query.get('limit') ?? Infinity);
    const from = Number(query.get('continue') ?? 0);
    const rest = all.length > from + limit ? { continue: String(from + limit) } : {};
    reply(response, 200, {
      apiVersion: textAt(all[0], 'apiVersion') ?? 'v1',
      kind: `${textAt(all[0], 'kind') ?? 'Thing'}List`,
      metadata: { resourceVersion: String(this.#version), ...rest },
      // As typed lists of the API server: the elements do not say what they are.
      items: all
        .slice(from, from + limit)
        .map((object) =>
          Object.fromEntries(Object.entries(object).filter(([field]) => !TYPE_FIELDS.has(field))),
        ),
    });
  }

  #watch({ path, query }: SeenRequest, response: ServerResponse, garbage: string | undefined): void {
    const since = Number(query.get('resourceVersion') ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (garbage !== undefined) response.write(garbage);
    if (since < this.#oldest) {
      send(response, 'ERROR', {
        kind: 'Status',
        code: 410,
        reason: 'Expired',
        message: 'too old resource version',
      });
      response.end();
      return;
    }
    const watcher: Watcher = { collection: path, selects: selector(query), response };
    for (const change of this.#changes) if (change.version > since) tell(watcher, change);
    this.#watchers.add(watcher);
    response.on('close', () => this.#watchers.delete(watcher));
  }

  #create({ path, body }: SeenRequest, response: ServerResponse): void {
    const key = `${path}/${textAt(body, 'metadata', 'name') ?? ''}`;
    if (this.#objects.has(key)) refuse(response, 409, 'AlreadyExists', `${key} already exists`);
    else reply(response, 201, this.put(key, isJsonObject(body) ? body : {}));
  }

  #update({ method, path, body }: SeenRequest, response: ServerResponse): void {
    const isStatus = path.endsWith('/status');
    const key = isStatus ? path.slice(0, -'/status'.length) : path;
    const before = this.#objects.get(key);
    if (before === undefined || !isJsonObject(body)) {
      refuse(response, 404, 'NotFound', `${key} not found`);
      return;
    }
    const known = metadataOf(before);
    const given = metadataOf(body);
    for (const field of ['resourceVersion', 'uid']) {
      if (given[field] !== undefined && given[field] !== known[field]) {
        refuse(response, 409, 'Conflict', `${field} differs`);
        return;
      }
    }
    const merged = method === 'PATCH' ? { ...before, ...body } : body;
    const next = isStatus
      ? { ...before, status: merged['status'] }
      : { ...merged, metadata: { ...known, ...given } };
    // The API server does not write what changes nothing.
    const same =
      JSON.stringify({ ...next, metadata: known }) === JSON.stringify({ ...before, metadata: known });
    reply(response, 200, same ? before : this.put(key, next));
  }

  #changed(path: string, type: Change['type'], object: JsonObject, before: JsonObject | undefined): void {
    const change = { version: this.#version, collection: path, type, object, before };
    this.#changes.push(change);
    for (const watcher of this.#watchers) tell(watcher, change);
  }
}

function spoil(response: ServerResponse, fault: Fault): void {
  if ('reset' in fault) response.socket?.resetAndDestroy();
  else if ('body' in fault) response.end(fault.body);
  else if ('status' in fault) {
    if (fault.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter));
    refuse(response, fault.status, 'Planned', fault.message ?? `planned ${fault.status}`);
  }
}

/** An object that leaves or enters a selection is deleted or added for who watches it. */
function tell({ collection, selects, response }: Watcher, change: Change): void {
  if (!belongs(change.collection, collection)) return;
  const is = change.type !== 'DELETED' && selects(change.object);
  const was = change.before !== undefined && selects(change.before);
  if (!is && !was) return;
  send(response, is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', change.object);
}

function send(response: ServerResponse, type: string, object: object): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  reply(response, code, { kind: 'Status', status: 'Failure', code, reason, message });
}

function metadataOf(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  return isJsonObject(metadata) ? metadata : {};
}

/** Of a discovery path: `/api/v1` or `/apis/g/v1`. */
function groupVersionOf(path: string): string | undefined {
  return /^\/api\/([^/]+)$/.exec(path)?.[1] ?? /^\/apis\/([^/]+\/[^/]+)$/.exec(path)?.[1];
}

/** `/apis/g/v1/things`, `/apis/g/v1/namespaces/ns/things`, and the same of core. */
function isCollection(path: string): boolean {
  return /^(?:\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/[^/]+)?\/[^/]+$/.test(path);
}

/** Whether an object is in a collection, which may be that of all namespaces. */
function belongs(path: string, collection: string): boolean {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent === collection || parent.replace(/\/namespaces\/[^/]+\/(?=[^/]+$)/, '/') === collection;
}

function selector(query: URLSearchParams): (object: JsonObject) => boolean {
  const terms = (text: string | null): readonly string[] =>
    text === null || text === '' ? [] : text.split(',');
  const fields = terms(query.get('fieldSelector')).map((term) => term.split('='));
  const labels = terms(query.get('labelSelector')).map((term) => term.split('='));
  return (object) =>
    fields.every(([path = '', value]) => valueAt(object, ...path.split('.')) === value) &&
    labels.every(([name = '', value]) => textAt(object, 'metadata', 'labels', name) === value);
}
