import { refusal, KubeApiError } from '../../../src/kube/kube-api-error.js';
import { isJsonObject, textAt, valueAt, type JsonObject } from '../../../src/kube/json.js';

/** Objects by path in memory, with resourceVersion and uid checks, for what reads and writes single objects. */
export class MemoryApi {
  readonly objects = new Map<string, JsonObject>();
  /** `PUT /path`, in order. */
  readonly calls: string[] = [];
  /** Asked before each call: an error to fail with, or a promise to wait for. */
  intercept: (call: string) => KubeApiError | Promise<void> | undefined = () => undefined;
  #version = 0;

  async get(path: string, signal?: AbortSignal): Promise<unknown> {
    await this.#enter(`GET ${path}`, signal);
    const object = this.objects.get(path);
    if (object === undefined) throw refusal(`GET ${path}`, 404, { reason: 'NotFound' });
    return structuredClone(object);
  }

  async create(collection: string, body: object, signal?: AbortSignal): Promise<unknown> {
    const path = `${collection}/${textAt(body, 'metadata', 'name') ?? ''}`;
    await this.#enter(`POST ${path}`, signal);
    if (this.objects.has(path)) throw refusal(`POST ${path}`, 409, { reason: 'AlreadyExists' });
    return this.put(path, body);
  }

  async replace(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    await this.#enter(`PUT ${path}`, signal);
    const key = path.replace(/\/status$/, '');
    const before = this.objects.get(key);
    if (before === undefined) throw refusal(`PUT ${path}`, 404, { reason: 'NotFound' });
    for (const field of ['resourceVersion', 'uid']) {
      const given = textAt(body, 'metadata', field);
      if (given !== undefined && given !== textAt(before, 'metadata', field)) {
        throw refusal(`PUT ${path}`, 409, { reason: 'Conflict' });
      }
    }
    return this.put(key, key === path ? body : { ...before, status: valueAt(body, 'status') });
  }

  async patch(path: string, patch: { readonly body: object }, signal?: AbortSignal): Promise<unknown> {
    await this.#enter(`PATCH ${path}`, signal);
    const before = this.objects.get(path);
    if (before === undefined) throw refusal(`PATCH ${path}`, 404, { reason: 'NotFound' });
    return this.put(path, { ...before, ...patch.body });
  }

  /** As somebody else would. */
  put(path: string, body: object): JsonObject {
    this.#version += 1;
    const metadata = valueAt(body, 'metadata');
    const known = isJsonObject(metadata) ? metadata : {};
    const stored = structuredClone({
      ...body,
      metadata: { ...known, resourceVersion: String(this.#version) },
    });
    this.objects.set(path, stored);
    return structuredClone(stored);
  }

  async #enter(call: string, signal?: AbortSignal): Promise<void> {
    this.calls.push(call);
    const intercepted = this.intercept(call);
    if (intercepted instanceof KubeApiError) throw intercepted;
    if (intercepted !== undefined) await Promise.race([intercepted, aborted(signal)]);
    await Promise.resolve();
    if (signal?.aborted === true) throw new KubeApiError(call, { status: 0, reason: 'network' });
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => {
      resolve();
    });
  });
}
