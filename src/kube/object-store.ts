import { keyOf, type KubernetesObject } from '../apis/meta.js';
import { shareStructure } from '../util/share-structure.js';
import { textAt } from './json.js';
import type { ResourceSnapshot } from './resource-source.js';
import type { RawObserver } from './status-cache.js';
import type { WatchEvent } from './watch-event.js';

/** Validates an object and keeps of it what is read, without its resourceVersion. The result is plain data. */
export type Decode<T extends KubernetesObject> = (raw: unknown) => Decoded<T>;

export type Decoded<T extends KubernetesObject> = { readonly object: T } | { readonly problem: string };

/** An object that could not be read; its last good version, when there is one, stays in the snapshot. */
export interface ObjectFault {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  /** For people: the field and what is wrong with it. */
  readonly problem: string;
  readonly keptLastGood: boolean;
}

interface Entry<T> {
  readonly version: string;
  readonly uid: string;
  /** Undefined while no version of it could be read. */
  readonly object: T | undefined;
  readonly fault: ObjectFault | undefined;
}

const ABSENT: Entry<never> = { version: '', uid: '', object: undefined, fault: undefined };

/** The objects of one kind as last heard. Not a stream: the Reflector asks it after every list and event. */
export class ObjectStore<T extends KubernetesObject> {
  readonly #decode: Decode<T>;
  readonly #observer: RawObserver | undefined;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(decode: Decode<T>, observer: RawObserver | undefined) {
    this.#decode = decode;
    this.#observer = observer;
  }

  /** Makes a full list the content. Tells whether the snapshot or the faults differ from before. */
  replace(items: readonly unknown[]): boolean {
    let changed = false;
    const listed = new Set<string>();
    for (const item of items) {
      const key = rawKey(item);
      if (key === undefined) continue;
      listed.add(key);
      if (this.#put(key, item)) changed = true;
    }
    // What vanished while nobody watched.
    for (const key of [...this.#entries.keys()]) {
      if (!listed.has(key) && this.#remove(key)) changed = true;
    }
    return changed;
  }

  /** Tells whether the snapshot or the faults differ from before. */
  apply(event: Exclude<WatchEvent, { readonly type: 'bookmark' }>): boolean {
    const key = rawKey(event.object);
    if (key === undefined) return false;
    return event.type === 'deleted' ? this.#remove(key) : this.#put(key, event.object);
  }

  snapshot(): ResourceSnapshot<T> {
    const snapshot = new Map<string, T>();
    for (const [key, { object }] of this.#entries) {
      if (object !== undefined) snapshot.set(key, object);
    }
    return snapshot;
  }

  faults(): ReadonlyMap<string, ObjectFault> {
    const faults = new Map<string, ObjectFault>();
    for (const [key, { fault }] of this.#entries) {
      if (fault !== undefined) faults.set(key, fault);
    }
    return faults;
  }

  #put(key: string, raw: unknown): boolean {
    const version = textAt(raw, 'metadata', 'resourceVersion') ?? '';
    const uid = textAt(raw, 'metadata', 'uid') ?? '';
    const before = this.#entries.get(key) ?? ABSENT;
    // An object of the same name but another uid is another object: nothing of the old one holds for it.
    const sameOne = before.uid === uid;
    // A relist brings mostly what is known: the version says so without reading the object.
    if (sameOne && before.version === version && version !== '') return false;

    this.#observer?.seen(key, raw);
    const entry = { version, uid, ...this.#read(key, raw, sameOne ? before.object : undefined) };
    this.#entries.set(key, entry);
    return entry.object !== before.object || entry.fault?.problem !== before.fault?.problem;
  }

  #read(key: string, raw: unknown, lastGood: T | undefined): Pick<Entry<T>, 'object' | 'fault'> {
    const decoded = this.#decode(raw);
    if ('problem' in decoded) {
      const fault = { key, problem: decoded.problem, keptLastGood: lastGood !== undefined };
      return { object: lastGood, fault };
    }
    // The old object when nothing that is read changed; else its unchanged parts.
    return { object: shareStructure(lastGood, decoded.object), fault: undefined };
  }

  #remove(key: string): boolean {
    this.#observer?.gone(key);
    return this.#entries.delete(key);
  }
}

function rawKey(raw: unknown): string | undefined {
  const name = textAt(raw, 'metadata', 'name');
  if (name === undefined) return undefined;
  const namespace = textAt(raw, 'metadata', 'namespace');
  const metadata = namespace === undefined || namespace === '' ? { name } : { name, namespace };
  return keyOf({ apiVersion: '', kind: '', metadata });
}
