import type { BackendObjectReference, RequestMirror } from '../gateway/index.js';
import type { FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

/** A Service is dialled on a port; other kinds may bring their own. */
export function* backendPort(
  { group, kind, port }: BackendObjectReference,
  path: string,
): Generator<FieldProblem> {
  yield* problemWhen(
    group === '' && kind === 'Service' && port === undefined,
    `${path}.port`,
    'is required for a Service: the port of the Service to send to',
  );
}

/** A filter has the field that its type names, and no other. */
export function* requiredField<T extends string>(
  filter: { readonly type: T } & Readonly<Record<string, unknown>>,
  fieldOfType: Readonly<Record<T, string>>,
  path: string,
): Generator<FieldProblem> {
  const expected = fieldOfType[filter.type];
  yield* problemWhen(
    filter[expected] === undefined,
    `${path}.${expected}`,
    `is required for type ${filter.type}`,
  );
  for (const field of Object.values<string>(fieldOfType))
    yield* problemWhen(
      field !== expected && filter[field] !== undefined,
      `${path}.${field}`,
      `must not be set for type ${filter.type}`,
    );
}

/** Filters of these types may appear once in a list. */
export function* unrepeatedFilters<T extends string>(
  types: readonly T[],
  path: string,
  once: readonly T[],
): Generator<FieldProblem> {
  for (const type of once)
    yield* problemWhen(
      types.filter((candidate) => candidate === type).length > 1,
      path,
      `must not have more than one ${type} filter: merge them`,
    );
}

/** GEP-3171. */
export function* mirrorShare(mirror: RequestMirror, path: string): Generator<FieldProblem> {
  const { backendRef, percent, fraction } = mirror;
  yield* backendPort(backendRef, `${path}.backendRef`);
  yield* problemWhen(
    percent !== undefined && fraction !== undefined,
    path,
    'must not have both percent and fraction: remove one',
  );
  yield* problemWhen(
    fraction !== undefined && fraction.numerator > fraction.denominator,
    `${path}.fraction.numerator`,
    'must not be greater than the denominator',
  );
}
