import { clusterOf, EMPTY_CLUSTER, type ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { Kind } from '../apis/kinds.js';
import { isOfKind, type ObjectsByKind } from '../apis/objects.js';
import { compareText, groupBy } from '../util/collections.js';
import { amendFiles } from './amend-files.js';
import { derive, NOTHING_DERIVED, type Derived } from './derive.js';
import { problemNameOf, sortProblems, type FileProblem } from './file-problem.js';
import { follow, lineOf, type Found, type TrackedObject } from './tracked-object.js';
import type { FileReading } from './file-reading.js';

export interface FilesState {
  readonly files: ReadonlyMap<string, FileReading>;
  /** Keys of objects about which more than one description has a say: described twice, or by a faulty document. */
  readonly disputed: ReadonlySet<string>;
  readonly cluster: ClusterSnapshot;
  /** Of all files, by file and line. */
  readonly problems: readonly FileProblem[];
  /** What is served, by `kind/namespace/name`. */
  readonly objects: ReadonlyMap<string, TrackedObject>;
  /** What was made from them: slices of annotated Services, namespaces that nobody wrote down. */
  readonly derived: Derived;
}

export const NO_FILES: FilesState = {
  files: new Map(),
  disputed: new Set(),
  cluster: EMPTY_CLUSTER,
  problems: [],
  objects: new Map(),
  derived: NOTHING_DERIVED,
};

/**
 * The state after a look at all files, from the state before. Whatever did not change is the same object; an object
 * whose document became faulty stays as it was, and so do the objects of a file that has a document of which
 * nothing can be told. Mostly few files changed and nothing is wrong with them: then only their objects are looked at.
 *
 * @param now time of first appearance for what has no creationTimestamp, RFC 3339
 */
export function foldFiles(
  before: FilesState,
  files: ReadonlyMap<string, FileReading>,
  now: string,
): FilesState {
  return amendFiles(before, files, now) ?? foldAllFiles(before, files, now);
}

/** The same, from what all files say. */
export function foldAllFiles(
  before: FilesState,
  files: ReadonlyMap<string, FileReading>,
  now: string,
): FilesState {
  const problems: FileProblem[] = [];
  const objects = new Map<string, TrackedObject>();
  const faulty = new Set<string>();
  const repeated = new Set<string>();
  for (const reading of inOrder(files)) {
    problems.push(...reading.problems);
    for (const key of reading.faulty) faulty.add(key);
    for (const found of reading.objects) {
      const { key } = found.read;
      const earlier = objects.get(key);
      if (!earlier) objects.set(key, follow(before.objects.get(key), found, now));
      else repeated.add(key);
      if (earlier && !reading.leaving) problems.push(duplicate(found, earlier));
    }
  }
  keepLastGood(
    before,
    objects,
    (object) => faulty.has(object.key) || (files.get(object.found.file)?.unclear ?? false),
  );
  const derived = derive(before.derived, objects, now);
  problems.push(...derived.problems);
  return {
    files,
    disputed: new Set([...faulty, ...repeated]),
    objects,
    derived,
    problems:
      problems.length === 0 && before.problems.length === 0 ? before.problems : sortProblems(problems),
    cluster: toCluster(before, groupBy([...objects.values(), ...derived.objects.values()], kindOf)),
  };
}

function kindOf({ object }: TrackedObject): Kind {
  return object.kind;
}

/** By file name, because the first description of an object counts; those that are leaving come last. */
function inOrder(files: ReadonlyMap<string, FileReading>): readonly FileReading[] {
  return [...files]
    .sort(([a, x], [b, y]) => Number(x.leaving) - Number(y.leaving) || compareText(a, b))
    .map(([, reading]) => reading);
}

function duplicate(found: Found, { found: earlier }: TrackedObject): FileProblem {
  return {
    severity: 'error',
    file: found.file,
    line: lineOf(found),
    object: problemNameOf(found.read.object),
    path: '',
    message: `is described twice: ${earlier.file}:${String(lineOf(earlier))} counts, remove one of them`,
  };
}

function keepLastGood(
  before: FilesState,
  objects: Map<string, TrackedObject>,
  isKept: (object: TrackedObject) => boolean,
): void {
  for (const [key, object] of before.objects)
    if (!objects.has(key) && isKept(object)) objects.set(key, object);
}

function toCluster(
  { cluster }: FilesState,
  byKind: ReadonlyMap<Kind, readonly TrackedObject[]>,
): ClusterSnapshot {
  return clusterOf((kind) => snapshotOf(kind, cluster[kind], byKind.get(kind) ?? []));
}

/** The objects of a kind; the map before when they are all the same. */
function snapshotOf<K extends Kind>(
  kind: K,
  before: ReadonlyMap<string, ObjectsByKind[K]>,
  all: readonly TrackedObject[],
): ReadonlyMap<string, ObjectsByKind[K]> {
  if (all.length === before.size && all.every(({ id, object }) => before.get(id) === object)) return before;
  const now = new Map<string, ObjectsByKind[K]>();
  for (const { id, object } of all) if (isOfKind(kind, object)) now.set(id, object);
  return now;
}
