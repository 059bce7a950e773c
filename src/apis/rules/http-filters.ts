import type { HttpRouteFilter, PathModifier } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';
import { backendPort, mirrorShare, requiredField, unrepeatedFilters } from './route-filters.js';

const FIELD_OF_TYPE = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  ExtensionRef: 'extensionRef',
  CORS: 'cors',
  ExternalAuth: 'externalAuth',
} as const satisfies Record<HttpRouteFilter['type'], keyof HttpRouteFilter>;

/** All rules of one list of filters of an HTTPRoute. */
export function* httpFilters(
  filters: readonly HttpRouteFilter[] = [],
  path: string,
): Generator<FieldProblem> {
  const types = filters.map(({ type }) => type);
  yield* problemWhen(
    types.includes('RequestRedirect') && types.includes('URLRewrite'),
    path,
    'must not have both a RequestRedirect and a URLRewrite filter: remove one',
  );
  yield* unrepeatedFilters(types, path, [
    'CORS',
    'RequestHeaderModifier',
    'ResponseHeaderModifier',
    'RequestRedirect',
    'URLRewrite',
  ]);
  for (const [index, filter] of filters.entries()) yield* httpFilter(filter, itemPath(path, index));
}

function* httpFilter(filter: HttpRouteFilter, path: string): Generator<FieldProblem> {
  yield* requiredField(filter, FIELD_OF_TYPE, path);
  if (filter.requestMirror) yield* mirrorShare(filter.requestMirror, `${path}.requestMirror`);
  if (filter.requestRedirect?.path)
    yield* pathModifier(filter.requestRedirect.path, `${path}.requestRedirect.path`);
  if (filter.urlRewrite?.path) yield* pathModifier(filter.urlRewrite.path, `${path}.urlRewrite.path`);
  yield* cors(filter, `${path}.cors`);
  yield* externalAuth(filter, `${path}.externalAuth`);
}

function* pathModifier(modifier: PathModifier, path: string): Generator<FieldProblem> {
  const { type, replaceFullPath, replacePrefixMatch } = modifier;
  yield* eitherOr(type === 'ReplaceFullPath', replaceFullPath, `${path}.replaceFullPath`, `type ${type}`);
  yield* eitherOr(
    type === 'ReplacePrefixMatch',
    replacePrefixMatch,
    `${path}.replacePrefixMatch`,
    `type ${type}`,
  );
}

function* eitherOr(needed: boolean, value: unknown, path: string, why: string): Generator<FieldProblem> {
  yield* problemWhen(needed && value === undefined, path, `is required for ${why}`);
  yield* problemWhen(!needed && value !== undefined, path, `must not be set for ${why}`);
}

/** GEP-1767: `*` stands alone. */
function* cors({ cors: config }: HttpRouteFilter, path: string): Generator<FieldProblem> {
  for (const name of ['allowOrigins', 'allowMethods', 'allowHeaders'] as const) {
    const list: readonly string[] = config?.[name] ?? [];
    yield* problemWhen(
      list.length > 1 && list.includes('*'),
      `${path}.${name}`,
      'must not have "*" beside other values',
    );
  }
}

function* externalAuth({ externalAuth: auth }: HttpRouteFilter, path: string): Generator<FieldProblem> {
  if (!auth) return;
  yield* backendPort(auth.backendRef, `${path}.backendRef`);
  yield* eitherOr(auth.protocol === 'GRPC', auth.grpc, `${path}.grpc`, `protocol ${auth.protocol}`);
  yield* eitherOr(auth.protocol === 'HTTP', auth.http, `${path}.http`, `protocol ${auth.protocol}`);
}
