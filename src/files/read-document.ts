import type { KindDescription } from '../apis/kinds.js';
import type { KubernetesObject } from '../apis/meta.js';
import type { AnyObject } from '../apis/objects.js';
import { parseObject } from '../apis/validate.js';
import { itemPath, type FieldProblem } from '../apis/validation/field-problem.js';
import { toExactLength } from '../util/collections.js';
import type { FileProblem } from './file-problem.js';
import { identify } from './identify.js';
import { parseDocuments, type ParsedDocument } from './parse-document.js';

/** What a document says, whether or not it is right. Lines are within the document. */
export interface DocumentReading {
  readonly objects: readonly ReadObject[];
  /** Keys of objects that are named by it but faulty: their last good version serves on. */
  readonly faulty: ReadonlySet<string>;
  /** Part of it could not even be told to be an object. */
  readonly unclear: boolean;
  readonly problems: readonly Omit<FileProblem, 'file'>[];
}

export interface ReadObject {
  /** `kind/namespace/name`, or `kind/name` for cluster-scoped kinds. */
  readonly key: string;
  readonly object: AnyObject;
  /** Line within the document of a field of the object, or of the object for `''`. */
  readonly lineOf: (path: string) => number;
}

export function objectKey(kind: string, namespace: string | undefined, name: string): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** Reads the objects in the text of a document. Never throws: what cannot be used is a problem. */
export function readDocument(text: string): DocumentReading {
  const builder = new ReadingBuilder();
  for (const document of parseDocuments(text)) {
    for (const { line, message } of document.errors) builder.unreadable(line, message);
    if (document.errors.length === 0) readValue(document.value, '', document.lineOf, builder);
  }
  return builder.finished();
}

/** Of nearly all documents: there are as many of them as objects. */
const NONE_FAULTY: ReadonlySet<string> = new Set();
const NO_PROBLEMS: DocumentReading['problems'] = [];

class ReadingBuilder {
  readonly objects: ReadObject[] = [];
  readonly faulty = new Set<string>();
  readonly problems: Omit<FileProblem, 'file'>[] = [];
  unclear = false;

  finished(): DocumentReading {
    const { objects, faulty, problems, unclear } = this;
    return {
      objects: toExactLength(objects),
      faulty: faulty.size > 0 ? faulty : NONE_FAULTY,
      unclear,
      problems: problems.length > 0 ? problems : NO_PROBLEMS,
    };
  }

  unreadable(line: number, message: string): void {
    this.unclear = true;
    this.problems.push({ severity: 'error', line, path: '', message: `is not valid YAML: ${message}` });
  }
}

/** `prefix` is the path of the value in its document, which is not empty for elements of a List. */
function readValue(
  value: unknown,
  prefix: string,
  lineInDocument: ParsedDocument['lineOf'],
  builder: ReadingBuilder,
): void {
  const lineOf = (path: string): number => lineInDocument(join(prefix, path));
  if (!isRecord(value)) {
    builder.unclear = true;
    const message = 'must be an object with apiVersion, kind and metadata';
    builder.problems.push({ severity: 'error', line: lineOf(''), path: prefix, message });
    return;
  }
  if (value['kind'] === 'List' && Array.isArray(value['items'])) {
    for (const [index, item] of value['items'].entries())
      readValue(item, join(prefix, itemPath('items', index)), lineInDocument, builder);
    return;
  }
  readObject(value, lineOf, builder);
}

function readObject(
  raw: Readonly<Record<string, unknown>>,
  lineOf: (path: string) => number,
  builder: ReadingBuilder,
): void {
  const identity = identify(raw['apiVersion'], raw['kind']);
  const names = namesOf(raw);
  const report = ({ path, message }: FieldProblem, severity: FileProblem['severity'] = 'error'): void => {
    builder.problems.push({ severity, line: lineOf(path), object: names, path, message });
  };
  if ('ignored' in identity) {
    report({ path: '', message: 'is ignored: the kind is not read' }, 'warning');
    return;
  }
  if ('problem' in identity) {
    builder.unclear = true;
    report(identity.problem);
    return;
  }
  const { kind, namespaced } = identity.description;
  const complete = completed(raw, identity.description);
  const parsed = parseObject(kind, complete, 'strict');
  if ('problems' in parsed) {
    for (const problem of parsed.problems) report(problem);
    if (names.name === undefined) builder.unclear = true;
    else
      builder.faulty.add(objectKey(kind, namespaced ? (names.namespace ?? DEFAULT) : undefined, names.name));
    return;
  }
  const { metadata }: KubernetesObject = parsed.object;
  const key = objectKey(kind, metadata.namespace, metadata.name);
  builder.objects.push({ key, object: parsed.object, lineOf });
}

const DEFAULT = 'default';

/** What a client and the API server fill in before validation: the namespace, and a Secret's `stringData`. */
function completed(
  raw: Readonly<Record<string, unknown>>,
  { kind, namespaced }: KindDescription,
): Readonly<Record<string, unknown>> {
  const { metadata } = raw;
  const withNamespace =
    namespaced && isRecord(metadata)
      ? { ...raw, metadata: { ...metadata, namespace: metadata['namespace'] ?? DEFAULT } }
      : raw;
  return kind === 'Secret' ? withEncodedStrings(withNamespace) : withNamespace;
}

function withEncodedStrings({ stringData, ...secret }: Readonly<Record<string, unknown>>) {
  if (!isRecord(stringData)) return stringData === undefined ? secret : { ...secret, stringData };
  const encoded = Object.entries(stringData).map(([key, text]): [string, unknown] => [
    key,
    typeof text === 'string' ? Buffer.from(text).toString('base64') : text,
  ]);
  const data = isRecord(secret['data']) ? secret['data'] : {};
  return { ...secret, data: { ...data, ...Object.fromEntries(encoded) } };
}

/** Who the object says it is, as far as it says so. */
function namesOf(raw: Readonly<Record<string, unknown>>) {
  const metadata = isRecord(raw['metadata']) ? raw['metadata'] : {};
  const { name, namespace } = metadata;
  return {
    kind: typeof raw['kind'] === 'string' ? raw['kind'] : 'object',
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof name === 'string' && { name }),
  };
}

function join(prefix: string, path: string): string {
  return prefix === '' || path === '' || path.startsWith('[') ? `${prefix}${path}` : `${prefix}.${path}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
