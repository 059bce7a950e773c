import { nearest } from '../../util/nearest.js';
import { unsupportedValue } from '../unsupported-value.js';
import { fieldPath, itemPath, type FieldProblem } from './field-problem.js';
import { constantsOf, valuesOf, type SchemaNode } from './schema-node.js';

/**
 * Makes, of something that came from outside, a new value that has only the fields that a schema describes, with
 * defaults filled in and `null` taken as absent, as the API server does. What has the wrong type stays as it is:
 * the check that follows says so.
 *
 * With a list of problems it is strict: unknown fields and repeated keys of lists are reported into it.
 */
export type Projection = (value: unknown, path: string, problems?: FieldProblem[]) => unknown;

export function compileProjection(node: SchemaNode): Projection {
  if (node.properties) return projectObject(node, node.properties);
  if (node.items) return projectList(node, node.items);
  if (node.open === true) return projectConstant(constantsOf(node) ?? []);
  const values = valuesOf(node);
  return values ? projectMap(node, compileProjection(values)) : (value) => value;
}

/** Strictly, a constant that is not known stays: the check that follows names it. */
function projectConstant(constants: readonly unknown[]): Projection {
  return (value, _path, problems) =>
    problems || constants.includes(value) || (typeof value !== 'string' && typeof value !== 'number')
      ? value
      : unsupportedValue(value);
}

interface Field {
  readonly name: string;
  readonly project: Projection;
  readonly absent: unknown;
  /** The default, itself projected: one value shared by all who lack it. */
  readonly filled: unknown;
}

function projectObject(node: SchemaNode, properties: Readonly<Record<string, SchemaNode>>): Projection {
  const fields = Object.entries(properties).map(([name, child]): Field => {
    const project = compileProjection(child);
    const filled = child.default === undefined ? undefined : project(child.default, '');
    return { name, project, absent: child.absent, filled };
  });
  const known = new Set([...Object.keys(properties), ...(node.unread ?? [])]);

  return (value, path, problems) => {
    if (!isRecord(value)) return value;
    const result: Record<string, unknown> = {};
    for (const field of fields) {
      const given = value[field.name] ?? undefined;
      const projected =
        given === undefined
          ? (field.filled ?? (problems ? undefined : field.absent))
          : field.project(given, problems ? fieldPath(path, field.name) : '', problems);
      if (projected !== undefined) result[field.name] = projected;
    }
    if (problems) reportUnknown(value, known, path, problems);
    return result;
  };
}

function reportUnknown(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  path: string,
  problems: FieldProblem[],
): void {
  for (const name of Object.keys(value)) {
    if (known.has(name)) continue;
    const suggestion = nearest(name, known);
    const at = fieldPath(path, name);
    if (suggestion === undefined) problems.push({ path: at, message: 'is not a known field' });
    else {
      const message = `is not a known field, did you mean "${suggestion}"?`;
      problems.push({ path: at, message, meant: fieldPath(path, suggestion) });
    }
  }
}

function projectList(node: SchemaNode, items: SchemaNode): Projection {
  const project = compileProjection(items);
  return (value, path, problems) => {
    if (!Array.isArray(value)) return value;
    const result = value.map((item: unknown, index) =>
      project(item, problems ? itemPath(path, index) : '', problems),
    );
    if (problems) reportRepeated(node, result, path, problems);
    return result;
  };
}

/** Lists of type `map` and `set` (Kubernetes structured merge) have no two elements with one key. */
function reportRepeated(
  node: SchemaNode,
  list: readonly unknown[],
  path: string,
  problems: FieldProblem[],
): void {
  const keys = node['x-kubernetes-list-map-keys'];
  if (keys === undefined && node['x-kubernetes-list-type'] !== 'set') return;
  const firstIndex = new Map<string, number>();
  list.forEach((item, index) => {
    const key = JSON.stringify(
      keys === undefined ? item : keys.map((name) => (isRecord(item) ? item[name] : item)),
    );
    const first = firstIndex.get(key);
    if (first === undefined) firstIndex.set(key, index);
    else
      problems.push({
        path: itemPath(path, index),
        message: `must differ from element ${String(first)}${keys ? ` in ${keys.join(', ')}` : ''}`,
      });
  });
}

function projectMap(node: SchemaNode, project: Projection): Projection {
  const prefixes = node.keepKeys;
  return (value, path, problems) => {
    if (!isRecord(value)) return value;
    const kept = Object.entries(value).filter(
      ([key, item]) =>
        item !== null && item !== undefined && (prefixes?.some((prefix) => key.startsWith(prefix)) ?? true),
    );
    // Not an assignment per key: the key may be `__proto__`.
    return Object.fromEntries(
      kept.map(([key, item]) => [key, project(item, problems ? fieldPath(path, key) : '', problems)]),
    );
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
