import { isOfKind, type AnyObject } from '../apis/objects.js';
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
  readonly endpoints: ReadonlyMap<AnyObject, ServiceEndpoints>;
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
  const endpoints = new Map<AnyObject, ServiceEndpoints>();
  const add = (read: ReadObject): void => {
    if (!objects.has(read.key)) derived.set(read.key, followDerived(before.objects.get(read.key), read, now));
  };
  for (const tracked of objects.values()) {
    const made = before.endpoints.get(tracked.object) ?? endpointsOf(tracked);
    if (!made) continue;
    endpoints.set(tracked.object, made);
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

/** An object of the files before and after; undefined where it is not there. */
export interface ObjectChange {
  readonly key: string;
  readonly before: TrackedObject | undefined;
  readonly after: TrackedObject | undefined;
}

/**
 * The same for a few objects that changed. Undefined when it takes a look at all of them: a namespace may have lost
 * its last object or got its first, or something may be described now that was derived.
 */
export function amendDerived(
  before: Derived,
  objects: ReadonlyMap<string, TrackedObject>,
  changes: readonly ObjectChange[],
  now: string,
): Derived | undefined {
  if (!changes.every((change) => isLocal(change, before))) return undefined;
  const services = changes.filter(({ before: was, after: is }) => isService(is) && is.object !== was?.object);
  if (services.length === 0) return before;
  const amended = new Map(before.objects);
  const endpoints = new Map(before.endpoints);
  const outdated = services.flatMap(({ before: was }) => was?.object ?? []);
  for (const service of outdated) {
    for (const { key } of endpoints.get(service)?.slices ?? []) amended.delete(key);
    endpoints.delete(service);
  }
  const made = services.flatMap(({ after }) => madeFor(after));
  if (made.some(([, { problems }]) => problems.length > 0)) return undefined;
  for (const [service, { slices }] of made) {
    endpoints.set(service, { slices, problems: [] });
    const derived = slices.filter(({ key }) => !objects.has(key));
    for (const read of derived) amended.set(read.key, followDerived(before.objects.get(read.key), read, now));
  }
  return { ...before, objects: amended, endpoints };
}

function madeFor(tracked: TrackedObject | undefined): (readonly [AnyObject, ServiceEndpoints])[] {
  const made = tracked && endpointsOf(tracked);
  return made ? [[tracked.object, made]] : [];
}

function endpointsOf({ object }: TrackedObject): ServiceEndpoints | undefined {
  return isOfKind('Service', object) && isAnnotated(object) ? serviceEndpoints(object) : undefined;
}

function isService(tracked: TrackedObject | undefined): tracked is TrackedObject {
  return tracked !== undefined && isOfKind('Service', tracked.object);
}

/** What is new is in a namespace that is known, and is nothing that could have been derived. */
function isLocal({ before, after }: ObjectChange, { namespaces }: Derived): boolean {
  if (!after) return false;
  if (before) return true;
  const { namespace, object } = after;
  const isDerivable = isOfKind('EndpointSlice', object) || isOfKind('Namespace', object);
  return !isDerivable && (namespace === '' || namespaces.has(namespace));
}

function followDerived(last: TrackedObject | undefined, read: ReadObject, now: string): TrackedObject {
  return follow(last, last?.found.read === read ? last.found : { file: '', firstLine: 1, read }, now);
}
