import type { BodyWriter, CacheStore, StoreStatistics } from './cache-store.js';
import { EvictionQueues, QueuedObject } from './eviction-queues.js';
import type { StoredResponse } from './stored-response.js';
import { isSameVariant } from './vary.js';

interface MemoryStoreOptions {
  /** Most bytes in use at any time, bodies being written included. */
  readonly maxSizeBytes: number;
  readonly maxObjectBytes: number;
}

class MemoryObject extends QueuedObject {
  readonly body: Buffer;
  response: StoredResponse;

  constructor(response: StoredResponse, body: Buffer) {
    super(response.key, sizeOf(response, body.length));
    this.response = response;
    this.body = body;
  }
}

interface Variants {
  /** Newest first; parallel to the objects. */
  responses: readonly StoredResponse[];
  objects: readonly MemoryObject[];
}

/** More variants of one key than that are a Vary that varies by client. */
const MOST_VARIANTS = 32;
/** Share of the budget that bodies being written may take, so that slow answers cannot empty the cache. */
const PENDING_SHARE = 0.5;
/** What an object costs beside its text and body: maps, queue, objects. An estimate. */
const OVERHEAD = 1024;

function sizeOf(response: StoredResponse, bodyBytes: number): number {
  let text = response.key.length + response.uri.length;
  for (const part of response.fields) text += part.length;
  for (const { value, line } of response.selectors) text += (value?.length ?? 0) + (line?.length ?? 0);
  return OVERHEAD + 2 * text + bodyBytes;
}

/** Responses in the memory of one worker. The budget is never exceeded: place is made before it is taken. */
export class MemoryStore implements CacheStore {
  readonly maxObjectBytes: number;
  readonly #maxSizeBytes: number;
  readonly #byKey = new Map<string, Variants>();
  readonly #byResponse = new Map<StoredResponse, MemoryObject>();
  readonly #keysByUri = new Map<string, Set<string>>();
  readonly #queues = new EvictionQueues<MemoryObject>();
  #bytes = 0;
  #pendingBytes = 0;
  #evictions = 0;

  constructor({ maxSizeBytes, maxObjectBytes }: MemoryStoreOptions) {
    this.#maxSizeBytes = maxSizeBytes;
    this.maxObjectBytes = maxObjectBytes;
  }

  get statistics(): StoreStatistics {
    return {
      objects: this.#byResponse.size,
      bytes: this.#bytes + this.#pendingBytes,
      evictions: this.#evictions,
    };
  }

  lookup(key: string): readonly StoredResponse[] {
    return this.#byKey.get(key)?.responses ?? NOTHING;
  }

  begin(_key: string, length: number | undefined): BodyWriter | undefined {
    if (length !== undefined && length > this.maxObjectBytes) return undefined;
    const writer = new MemoryWriter(
      {
        maxBytes: length ?? this.maxObjectBytes,
        reserve: (bytes) => this.#reserve(bytes),
        release: (bytes) => {
          this.#pendingBytes -= bytes;
        },
        commit: (response, body) => {
          this.#insert(response, body);
        },
      },
      length,
    );
    return writer.isOpen ? writer : undefined;
  }

  replace(old: StoredResponse, next: StoredResponse): boolean {
    const object = this.#byResponse.get(old);
    if (!object) return false;
    this.#drop(object);
    this.#insert(next, object.body);
    return true;
  }

  remove(response: StoredResponse): void {
    const object = this.#byResponse.get(response);
    if (object) this.#drop(object);
  }

  invalidate(uri: string): void {
    for (const key of this.#keysByUri.get(uri) ?? []) {
      for (const object of this.#byKey.get(key)?.objects ?? []) {
        if (object.response.uri === uri) this.#drop(object);
      }
    }
  }

  lease(response: StoredResponse): Buffer | undefined {
    const object = this.#byResponse.get(response);
    if (object) this.#queues.use(object);
    return object?.body;
  }

  release(): void {
    // The garbage collector keeps a body as long as somebody has it.
  }

  /** Makes place for bytes of a body that is being written. */
  #reserve(bytes: number): boolean {
    if (this.#pendingBytes + bytes > this.#maxSizeBytes * PENDING_SHARE || !this.#makePlace(bytes))
      return false;
    this.#pendingBytes += bytes;
    return true;
  }

  #makePlace(bytes: number): boolean {
    while (this.#bytes + this.#pendingBytes + bytes > this.#maxSizeBytes) {
      const victim = this.#queues.evict();
      if (!(victim instanceof MemoryObject)) return false;
      this.#forget(victim);
      this.#evictions++;
    }
    return true;
  }

  #insert(response: StoredResponse, body: Buffer): void {
    const known = this.#byKey.get(response.key)?.objects ?? [];
    const same = known.find((object) => isSameVariant(object.response.selectors, response.selectors));
    if (same) this.#drop(same);
    else if (known.length >= MOST_VARIANTS)
      for (const object of known.slice(MOST_VARIANTS - 1)) this.#drop(object);
    const object = new MemoryObject(response, body);
    if (!this.#makePlace(object.size)) return;
    this.#bytes += object.size;
    this.#byResponse.set(response, object);
    this.#setVariants(response.key, [object, ...(this.#byKey.get(response.key)?.objects ?? [])]);
    const keys = this.#keysByUri.get(response.uri);
    if (keys) keys.add(response.key);
    else this.#keysByUri.set(response.uri, new Set([response.key]));
    this.#queues.add(object);
  }

  #drop(object: MemoryObject): void {
    this.#queues.remove(object);
    this.#forget(object);
  }

  /** Of an object that is out of the queues. */
  #forget(object: MemoryObject): void {
    const { key, uri } = object.response;
    this.#bytes -= object.size;
    this.#byResponse.delete(object.response);
    const rest = this.#byKey.get(key)?.objects.filter((each) => each !== object) ?? [];
    this.#setVariants(key, rest);
    if (rest.some((each) => each.response.uri === uri)) return;
    const keys = this.#keysByUri.get(uri);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysByUri.delete(uri);
  }

  #setVariants(key: string, objects: readonly MemoryObject[]): void {
    if (objects.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, { objects, responses: objects.map(({ response }) => response) });
  }
}

const NOTHING: readonly StoredResponse[] = [];

/** What a writer may do with its store. */
interface WriterHost {
  readonly maxBytes: number;
  readonly reserve: (bytes: number) => boolean;
  readonly release: (bytes: number) => void;
  readonly commit: (response: StoredResponse, body: Buffer) => void;
}

class MemoryWriter implements BodyWriter {
  readonly #host: WriterHost;
  /** The whole body, when its size is known. */
  readonly #whole: Buffer | undefined;
  readonly #parts: Buffer[] = [];
  #reserved = 0;
  #length = 0;
  #isOpen = true;

  constructor(host: WriterHost, length: number | undefined) {
    this.#host = host;
    if (length !== undefined) {
      this.#isOpen = this.#reserve(length);
      // Not from the pool of small buffers: a slice of it would keep its neighbours alive.
      if (this.#isOpen) this.#whole = Buffer.allocUnsafeSlow(length);
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  write(bytes: Buffer): boolean {
    if (!this.#isOpen) return false;
    const length = this.#length + bytes.length;
    if (length > this.#host.maxBytes || (!this.#whole && !this.#reserve(bytes.length))) {
      this.discard();
      return false;
    }
    if (this.#whole) bytes.copy(this.#whole, this.#length);
    else this.#parts.push(copyOf(bytes));
    this.#length = length;
    return true;
  }

  commit(response: StoredResponse): void {
    if (!this.#isOpen) return;
    this.#close();
    const body =
      this.#whole ?? (this.#parts.length === 1 ? this.#parts[0] : undefined) ?? concat(this.#parts);
    // Fewer bytes than announced are a truncated body.
    if (body.length === this.#length && response.length === this.#length) this.#host.commit(response, body);
  }

  discard(): void {
    if (this.#isOpen) this.#close();
  }

  #reserve(bytes: number): boolean {
    if (!this.#host.reserve(bytes)) return false;
    this.#reserved += bytes;
    return true;
  }

  #close(): void {
    this.#isOpen = false;
    this.#host.release(this.#reserved);
  }
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function concat(parts: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}
