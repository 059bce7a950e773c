import type { FieldProblem } from '../validation/field-problem.js';

/**
 * A rule of an API that a schema cannot say: a CEL rule of its CRD, or a check in the code of the API server. It is
 * applied to objects of files only; an API server applies it itself.
 */
export type Rule<T> = (object: T) => Iterable<FieldProblem>;

/** A problem when `wrong` holds. */
export function* problemWhen(wrong: boolean, path: string, message: string): Generator<FieldProblem> {
  if (wrong) yield { path, message };
}
