import { Type } from '@sinclair/typebox';

import {
  atomicList,
  headerName,
  hostname,
  mapList,
  namespaced,
  openOneOf,
  subdomain,
  type Described,
} from '../schema.js';
import { backendRef, commonRouteSpec, LocalObjectReferenceSchema } from './references.js';
import { HeaderModifierSchema, RequestMirrorSchema } from './route-filter.js';
import { SessionPersistenceSchema } from './session-persistence.js';

const matchType = () => openOneOf(['Exact', 'RegularExpression'], { default: 'Exact' });

export const GrpcMethodMatchSchema = Type.Object({
  type: matchType(),
  service: Type.Optional(Type.String({ maxLength: 1024 })),
  method: Type.Optional(Type.String({ maxLength: 1024 })),
});
export type GrpcMethodMatch = Described<typeof GrpcMethodMatchSchema>;

export const GrpcHeaderMatchSchema = Type.Object({
  type: matchType(),
  name: headerName(),
  value: Type.String({ minLength: 1, maxLength: 4096, absent: '' }),
});
export type GrpcHeaderMatch = Described<typeof GrpcHeaderMatchSchema>;

export const GrpcRouteMatchSchema = Type.Object({
  method: Type.Optional(GrpcMethodMatchSchema),
  headers: Type.Optional(mapList(GrpcHeaderMatchSchema, ['name'], { maxItems: 16 })),
});
export type GrpcRouteMatch = Described<typeof GrpcRouteMatchSchema>;

/** Exactly the field that belongs to `type` is set; the API makes sure of it. */
export const GrpcRouteFilterSchema = Type.Object({
  type: openOneOf(['ResponseHeaderModifier', 'RequestHeaderModifier', 'RequestMirror', 'ExtensionRef']),
  requestHeaderModifier: Type.Optional(HeaderModifierSchema),
  responseHeaderModifier: Type.Optional(HeaderModifierSchema),
  requestMirror: Type.Optional(RequestMirrorSchema),
  extensionRef: Type.Optional(LocalObjectReferenceSchema),
});
export type GrpcRouteFilter = Described<typeof GrpcRouteFilterSchema>;

const filters = () => Type.Optional(atomicList(GrpcRouteFilterSchema, { maxItems: 16 }));

export const GrpcBackendRefSchema = Type.Object({ ...backendRef, filters: filters() });
export type GrpcBackendRef = Described<typeof GrpcBackendRefSchema>;

export const GrpcRouteRuleSchema = Type.Object({
  name: Type.Optional(subdomain()),
  matches: Type.Optional(atomicList(GrpcRouteMatchSchema, { maxItems: 64 })),
  filters: filters(),
  backendRefs: Type.Optional(atomicList(GrpcBackendRefSchema, { maxItems: 16 })),
  sessionPersistence: Type.Optional(SessionPersistenceSchema),
});
export type GrpcRouteRule = Described<typeof GrpcRouteRuleSchema>;

export const GrpcRouteSchema = namespaced('GRPCRoute', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    ...commonRouteSpec,
    hostnames: Type.Optional(atomicList(hostname(), { maxItems: 16 })),
    rules: Type.Optional(atomicList(GrpcRouteRuleSchema, { maxItems: 16 })),
  }),
});
export type GrpcRoute = Described<typeof GrpcRouteSchema>;
