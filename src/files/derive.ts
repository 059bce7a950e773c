import { isOfKind } from '../apis/objects.js';
import { problemNameOf, type FileProblem } from './file-problem.js';
import { implicitNamespaces } from './implicit-namespaces.js';
import type { ReadObject } from './read-document.js';
import { isAnnotated, serviceEndpoints, type ServiceEndpoints } from './service-endpoints.js';
import { follow, lineOf, type TrackedObject } from './tracked-object.js';

/** What an API server and its controllers would have added to the objects of the files. */
export interface Derived {
  readonly objects: ReadonlyMap<string, TrackedObject>;
  readonly problems: readonly FileProblem[];
  /** What came of each annotated Service, so that it need not be made again. */
  readonly endpoints: ReadonlyMap<TrackedObject, ServiceEndpoints>;
  /** By name; kept for the same reason. */
  readonly namespaces: ReadonlyMap<string, ReadObject>;
}

export const NOTHING_DERIVED: Derived = {
  objects: new Map(),
  problems: [],
  endpoints: new Map(),
  namespaces: new Map(),
};

/** EndpointSlices from the annotations of Services, and the namespaces that nobody wrote down. */
export function derive(before: Derived, objects: ReadonlyMap<string, TrackedObject>, now: string): Derived {
  const derived = new Map<string, TrackedObject>();
  const problems: FileProblem[] = [];
  const endpoints = new Map<TrackedObject, ServiceEndpoints>();
  const add = (read: ReadObject): void => {
    if (objects.has(read.key)) return;
    const last = before.objects.get(read.key);
    const found = last?.found.read === read ? last.found : { file: '', firstLine: 1, read };
    derived.set(read.key, follow(last, found, now));
  };
  for (const tracked of objects.values()) {
    if (!isOfKind('Service', tracked.object) || !isAnnotated(tracked.object)) continue;
    const made = before.endpoints.get(tracked) ?? serviceEndpoints(tracked.object);
    endpoints.set(tracked, made);
    for (const slice of made.slices) add(slice);
    for (const { path, message } of made.problems) {
      const object = problemNameOf(tracked.object);
      const { file } = tracked.found;
      problems.push({ severity: 'error', file, line: lineOf(tracked.found, path), object, path, message });
    }
  }
  const namespaces = implicitNamespaces(objects.values(), before.namespaces);
  for (const read of namespaces.values()) add(read);
  return { objects: derived, problems, endpoints, namespaces };
}
