import type { GrpcMethodMatch, GrpcRoute, GrpcRouteFilter } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { mirrorShare, requiredField, unrepeatedFilters } from './route-filters.js';
import { sessionPersistence } from './routes.js';
import { problemWhen } from './rule.js';

const SERVICE = /^\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$/i;
const METHOD = /^[A-Za-z_][A-Za-z_0-9]*$/;

export function* grpcRules({ spec: { rules = [] } }: GrpcRoute): Generator<FieldProblem> {
  for (const [index, rule] of rules.entries()) {
    const path = itemPath('spec.rules', index);
    for (const [at, { method }] of (rule.matches ?? []).entries())
      if (method) yield* methodMatch(method, `${itemPath(`${path}.matches`, at)}.method`);
    yield* grpcFilters(rule.filters, `${path}.filters`);
    for (const [at, { filters }] of (rule.backendRefs ?? []).entries())
      yield* grpcFilters(filters, `${itemPath(`${path}.backendRefs`, at)}.filters`);
    yield* sessionPersistence(rule.sessionPersistence, `${path}.sessionPersistence`);
  }
}

function* methodMatch({ type, service, method }: GrpcMethodMatch, path: string): Generator<FieldProblem> {
  yield* problemWhen(
    service === undefined && method === undefined,
    path,
    'must have a service, a method or both',
  );
  if (type !== 'Exact') return;
  yield* problemWhen(
    service !== undefined && !SERVICE.test(service),
    `${path}.service`,
    'must be a service name such as "shop.v1.Cart"',
  );
  yield* problemWhen(
    method !== undefined && !METHOD.test(method),
    `${path}.method`,
    'must be a method name such as "AddItem"',
  );
}

const FIELD_OF_TYPE = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  ExtensionRef: 'extensionRef',
} as const satisfies Record<GrpcRouteFilter['type'], keyof GrpcRouteFilter>;

function* grpcFilters(filters: readonly GrpcRouteFilter[] = [], path: string): Generator<FieldProblem> {
  const types = filters.map(({ type }) => type);
  yield* unrepeatedFilters(types, path, ['RequestHeaderModifier', 'ResponseHeaderModifier']);
  for (const [index, filter] of filters.entries()) {
    yield* requiredField(filter, FIELD_OF_TYPE, itemPath(path, index));
    if (filter.requestMirror)
      yield* mirrorShare(filter.requestMirror, `${itemPath(path, index)}.requestMirror`);
  }
}
