import type { KubernetesObject } from '../apis/meta.js';
import { compareText } from '../util/collections.js';

/** What is wrong with a file or with an object in it. */
export interface FileProblem {
  /** `warning`: nothing is lost by it, something is ignored. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** From 1; absent for the file as a whole. */
  readonly line?: number;
  /** As far as it could be read. */
  readonly object?: { readonly kind: string; readonly namespace?: string; readonly name?: string };
  /** The field at fault, such as `spec.rules[0].name`; `''` for the object as a whole. */
  readonly path: string;
  /** The rest of a sentence that the path begins: `must start with "/"`. */
  readonly message: string;
}

/** `shop/route.yaml:12: HTTPRoute shop/cart: spec.rules[0].name must be …` */
export function formatProblem({ severity, file, line, object, path, message }: FileProblem): string {
  const place = line === undefined ? file : `${file}:${String(line)}`;
  const parts = [place, ...(severity === 'warning' ? ['warning'] : []), ...(object ? [nameOf(object)] : [])];
  return `${parts.join(': ')}: ${path === '' ? message : `${path} ${message}`}`;
}

/** How a problem names an object. */
export function problemNameOf({ kind, metadata }: KubernetesObject): NonNullable<FileProblem['object']> {
  const { namespace, name } = metadata;
  return { kind, name, ...(namespace !== undefined && { namespace }) };
}

function nameOf({ kind, namespace, name }: NonNullable<FileProblem['object']>): string {
  if (name === undefined) return kind;
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** By file and line; of objects that stand on one line, by name. */
export function sortProblems(problems: readonly FileProblem[]): readonly FileProblem[] {
  return [...problems].sort(
    (a, b) =>
      compareText(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      compareText(a.path, b.path) ||
      compareText(a.object ? nameOf(a.object) : '', b.object ? nameOf(b.object) : ''),
  );
}
