import { createHash } from 'node:crypto';

import { keyOf, type KubernetesObject, type ObjectMeta } from '../apis/meta.js';
import { isOfKind, type AnyObject } from '../apis/objects.js';
import type { ReadObject } from './read-document.js';
import { shareStructure } from '../util/share-structure.js';

/** An object as a file has it now. */
export interface Found {
  readonly file: string;
  /** Of the document in its file. */
  readonly firstLine: number;
  readonly read: ReadObject;
}

/** An object that is served from a file, with what an API server would have added. */
export interface TrackedObject {
  /** `kind/namespace/name`. */
  readonly key: string;
  /** `namespace/name`: the key in the snapshot of its kind. */
  readonly id: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** As the document has it. */
  readonly read: AnyObject;
  /** With uid, generation and creation time. */
  readonly object: AnyObject;
  readonly found: Found;
}

/** The line, in its file, of a field of an object. */
export function lineOf({ firstLine, read }: Found, path = ''): number {
  return firstLine - 1 + read.lineOf(path);
}

/** The object as it is now, given as it was: the same while nothing changed, the next generation when its spec did. */
export function follow(before: TrackedObject | undefined, found: Found, now: string): TrackedObject {
  if (before?.found === found) return before;
  const { key, object } = found.read;
  if (!before) {
    const { namespace = '', creationTimestamp = now } = metadataOf(object);
    const added = { uid: uidOf(key, creationTimestamp), creationTimestamp, generation: 1 };
    return { key, id: keyOf(object), namespace, read: object, object: complete(object, added), found };
  }
  const read = shareStructure(before.read, object);
  if (read === before.read) return { ...before, found };
  const { uid = '', creationTimestamp = now, generation = 1 } = metadataOf(before.object);
  const added = {
    uid,
    creationTimestamp: metadataOf(read).creationTimestamp ?? creationTimestamp,
    generation: isSameSpec(before.read, read) ? generation : generation + 1,
  };
  return { ...before, read, object: shareStructure(before.object, complete(read, added)), found };
}

type Added = Required<Pick<ObjectMeta, 'uid' | 'creationTimestamp' | 'generation'>>;

function complete(object: AnyObject, added: Added): AnyObject {
  const metadata = metadataOf(object);
  return withMetadata(object, {
    ...metadata,
    ...added,
    ...(isOfKind('Namespace', object) && {
      labels: { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name },
    }),
  });
}

function withMetadata<T extends KubernetesObject>(object: T, metadata: ObjectMeta): T {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

function metadataOf({ metadata }: KubernetesObject): ObjectMeta {
  return metadata;
}

function isSameSpec(a: KubernetesObject, b: KubernetesObject): boolean {
  const before = { ...a, metadata: undefined };
  return shareStructure<unknown>(before, { ...b, metadata: undefined }) === before;
}

/** An object that is removed and comes back is another one, as for an API server. */
function uidOf(key: string, createdAt: string): string {
  const hex = createHash('sha256').update(`${key} ${createdAt}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
