import { Type } from '@sinclair/typebox';

import {
  atomicList,
  duration,
  headerName,
  headerValue,
  hostname,
  mapList,
  namespaced,
  openOneOf,
  setList,
  subdomain,
  type Described,
} from '../schema.js';
import { HttpMethodSchema, httpRouteFilters } from './http-filter.js';
import { backendRef, commonRouteSpec } from './references.js';
import { SessionPersistenceSchema } from './session-persistence.js';

const valueMatchType = () => openOneOf(['Exact', 'RegularExpression'], { default: 'Exact' });

const everyPath = { type: 'PathPrefix', value: '/' } as const;

export const HttpPathMatchSchema = Type.Object(
  {
    type: openOneOf(['Exact', 'PathPrefix', 'RegularExpression'], { default: 'PathPrefix' }),
    value: Type.String({ maxLength: 1024, default: '/' }),
  },
  { default: everyPath },
);
export type HttpPathMatch = Described<typeof HttpPathMatchSchema>;

export const HttpHeaderMatchSchema = Type.Object({
  type: valueMatchType(),
  name: headerName(),
  value: headerValue({ absent: '' }),
});
export type HttpHeaderMatch = Described<typeof HttpHeaderMatchSchema>;

export const HttpQueryParamMatchSchema = Type.Object({
  type: valueMatchType(),
  name: headerName(),
  value: Type.String({ minLength: 1, maxLength: 1024, absent: '' }),
});
export type HttpQueryParamMatch = Described<typeof HttpQueryParamMatchSchema>;

export const HttpRouteMatchSchema = Type.Object({
  path: HttpPathMatchSchema,
  headers: Type.Optional(mapList(HttpHeaderMatchSchema, ['name'], { maxItems: 16 })),
  queryParams: Type.Optional(mapList(HttpQueryParamMatchSchema, ['name'], { maxItems: 16 })),
  method: Type.Optional(HttpMethodSchema),
});
export type HttpRouteMatch = Described<typeof HttpRouteMatchSchema>;

export const HttpBackendRefSchema = Type.Object({ ...backendRef, filters: httpRouteFilters() });
export type HttpBackendRef = Described<typeof HttpBackendRefSchema>;

export const HttpRouteTimeoutsSchema = Type.Object({
  request: Type.Optional(duration()),
  backendRequest: Type.Optional(duration()),
});
export type HttpRouteTimeouts = Described<typeof HttpRouteTimeoutsSchema>;

/** GEP-1731. */
export const HttpRouteRetrySchema = Type.Object({
  codes: Type.Optional(setList(Type.Integer({ minimum: 400, maximum: 599 }))),
  attempts: Type.Optional(Type.Integer({ minimum: 1 })),
  backoff: Type.Optional(duration()),
});
export type HttpRouteRetry = Described<typeof HttpRouteRetrySchema>;

export const HttpRouteRuleSchema = Type.Object({
  name: Type.Optional(subdomain()),
  matches: atomicList(HttpRouteMatchSchema, { maxItems: 64, default: [{ path: everyPath }] }),
  filters: httpRouteFilters(),
  backendRefs: Type.Optional(atomicList(HttpBackendRefSchema, { maxItems: 16 })),
  timeouts: Type.Optional(HttpRouteTimeoutsSchema),
  retry: Type.Optional(HttpRouteRetrySchema),
  sessionPersistence: Type.Optional(SessionPersistenceSchema),
});
export type HttpRouteRule = Described<typeof HttpRouteRuleSchema>;

export const HttpRouteSchema = namespaced('HTTPRoute', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    ...commonRouteSpec,
    hostnames: Type.Optional(atomicList(hostname(), { maxItems: 16 })),
    rules: atomicList(HttpRouteRuleSchema, {
      minItems: 1,
      maxItems: 16,
      default: [{ matches: [{ path: everyPath }] }],
    }),
  }),
});
export type HttpRoute = Described<typeof HttpRouteSchema>;
