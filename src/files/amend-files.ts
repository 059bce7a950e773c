import { clusterOf } from '../apis/cluster-snapshot.js';
import type { Kind } from '../apis/kinds.js';
import { isOfKind, type ObjectsByKind } from '../apis/objects.js';
import { groupBy } from '../util/collections.js';
import { changedKeys } from '../util/differences.js';
import { amendDerived, derive, type ObjectChange } from './derive.js';
import type { FileReading } from './file-reading.js';
import type { FilesState } from './fold-files.js';
import { follow, type Found, type TrackedObject } from './tracked-object.js';

/**
 * The state after a look at files of which a few changed, without looking at what the others describe. Undefined when
 * that would not do: something is or was wrong with a file that changed, or several files have a say about an object.
 */
export function amendFiles(
  before: FilesState,
  files: ReadonlyMap<string, FileReading>,
  now: string,
): FilesState | undefined {
  const edit = readEdit(before, files);
  if (!edit) return undefined;
  const objects = new Map(before.objects);
  const changes: ObjectChange[] = [];
  for (const [key, found] of edit.described) {
    const known = before.objects.get(key);
    const after = follow(known, found, now);
    if (after === known) continue;
    objects.set(key, after);
    changes.push({ key, before: known, after });
  }
  for (const key of edit.dropped) {
    objects.delete(key);
    changes.push({ key, before: before.objects.get(key), after: undefined });
  }
  const derived = amendDerived(before.derived, objects, changes, now) ?? derive(before.derived, objects, now);
  // The problems of Services have lines.
  if (derived.problems.length > 0 || before.derived.problems.length > 0) return undefined;
  const touched = [...changes.map(({ key }) => key), ...changedKeys(before.derived.objects, derived.objects)];
  const after = { ...before, files, objects, derived };
  return { ...after, cluster: amendCluster(before, after, touched) };
}

interface Edit {
  /** What the files that changed describe now. */
  readonly described: Map<string, Found>;
  /** Keys of what they do not describe any more. */
  readonly dropped: Set<string>;
}

function readEdit(before: FilesState, files: ReadonlyMap<string, FileReading>): Edit | undefined {
  const edit: Edit = { described: new Map(), dropped: new Set() };
  for (const file of changedKeys(before.files, files)) {
    const [was, is] = [before.files.get(file), files.get(file)];
    const isSimple =
      isPlain(was) && isPlain(is) && describeAll(edit, is, before) && dropRest(edit, was, before);
    if (!isSimple) return undefined;
  }
  return edit;
}

/** False when another description of an object has a say. */
function describeAll(
  { described }: Edit,
  reading: FileReading | undefined,
  { objects, disputed }: FilesState,
): boolean {
  return (reading?.objects ?? []).every((found) => {
    const { file, read } = found;
    const holder = objects.get(read.key)?.found.file ?? file;
    if (holder !== file || disputed.has(read.key) || described.has(read.key)) return false;
    described.set(read.key, found);
    return true;
  });
}

function dropRest(
  { described, dropped }: Edit,
  reading: FileReading | undefined,
  { disputed }: FilesState,
): boolean {
  return (reading?.objects ?? []).every(({ read: { key } }) => {
    if (!described.has(key)) dropped.add(key);
    return !disputed.has(key);
  });
}

/** Every object in it counts or is somebody else's, and there is nothing to report. */
function isPlain(reading: FileReading | undefined): boolean {
  if (!reading) return true;
  const { problems, faulty, unclear, leaving } = reading;
  return problems.length === 0 && faulty.length === 0 && !unclear && !leaving;
}

type Held = Pick<FilesState, 'objects' | 'derived' | 'cluster'>;

function amendCluster(before: Held, after: Held, touched: readonly string[]): FilesState['cluster'] {
  const changes = touched.flatMap((key) => {
    const [was, is] = [holdOf(before, key), holdOf(after, key)];
    const tracked = is ?? was;
    return tracked && was?.object !== is?.object ? [{ tracked, isGone: is === undefined }] : [];
  });
  const byKind = groupBy(changes, ({ tracked }) => tracked.object.kind);
  return clusterOf((kind) => amendSnapshot(kind, before.cluster[kind], byKind.get(kind) ?? []));
}

function holdOf({ objects, derived }: Held, key: string): TrackedObject | undefined {
  return objects.get(key) ?? derived.objects.get(key);
}

function amendSnapshot<K extends Kind>(
  kind: K,
  before: ReadonlyMap<string, ObjectsByKind[K]>,
  changes: readonly { readonly tracked: TrackedObject; readonly isGone: boolean }[],
): ReadonlyMap<string, ObjectsByKind[K]> {
  if (changes.length === 0) return before;
  const amended = new Map(before);
  for (const { tracked, isGone } of changes) {
    if (isGone) amended.delete(tracked.id);
    else if (isOfKind(kind, tracked.object)) amended.set(tracked.id, tracked.object);
  }
  return amended;
}
