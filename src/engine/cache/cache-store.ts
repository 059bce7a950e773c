/**
 * Where the object cache keeps responses. Implementations: {@link MemoryStore} of one worker. The contract is what a
 * store shared by all workers can keep as well: no object of the caller is kept by reference but the description, a
 * body is written in runs and read as a whole under a lease, and what is found may be gone the next moment.
 */
import type { StoredResponse } from './stored-response.js';

export interface CacheStore {
  /** Most bytes of a body; larger ones are never begun. */
  readonly maxObjectBytes: number;
  /** Every variant stored under a key, newest first. */
  lookup(key: string): readonly StoredResponse[];
  /**
   * Begins to store a body. `length` is its size when it is known. Undefined when there is no place for it. Nothing
   * can be looked up before the writer commits.
   */
  begin(key: string, length: number | undefined): BodyWriter | undefined;
  /** Replaces the description of a stored response and keeps its body; false when it is gone. */
  replace(old: StoredResponse, next: StoredResponse): boolean;
  /** Forgets one variant. */
  remove(response: StoredResponse): void;
  /** Forgets everything that was stored for a URI, whatever its key. */
  invalidate(uri: string): void;
  /** The body, to be read until `release`; undefined when it is gone. A use, for eviction. */
  lease(response: StoredResponse): Buffer | undefined;
  release(response: StoredResponse): void;
  readonly statistics: StoreStatistics;
}

/** Exactly one of `commit` and `discard` ends it. */
export interface BodyWriter {
  /** Copies the bytes. False: they do not fit, and the writer is discarded. */
  write(bytes: Buffer): boolean;
  /** Makes the response visible; it replaces the same variant of its key. */
  commit(response: StoredResponse): void;
  discard(): void;
}

export interface StoreStatistics {
  readonly objects: number;
  /** Bytes in use, bodies being written and overhead included; never above the budget. */
  readonly bytes: number;
  readonly evictions: number;
}
