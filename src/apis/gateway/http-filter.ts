import { Type } from '@sinclair/typebox';

import {
  atomicList,
  headerName,
  openOneOf,
  portNumber,
  setList,
  subdomain,
  type Described,
} from '../schema.js';
import { BackendObjectReferenceSchema, LocalObjectReferenceSchema } from './references.js';
import { HeaderModifierSchema, RequestMirrorSchema } from './route-filter.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] as const;

export const HttpMethodSchema = openOneOf(METHODS);
export type HttpMethod = Described<typeof HttpMethodSchema>;

export const PathModifierSchema = Type.Object({
  type: openOneOf(['ReplaceFullPath', 'ReplacePrefixMatch']),
  replaceFullPath: Type.Optional(Type.String({ maxLength: 1024 })),
  replacePrefixMatch: Type.Optional(Type.String({ maxLength: 1024 })),
});
export type PathModifier = Described<typeof PathModifierSchema>;

export const RequestRedirectSchema = Type.Object({
  scheme: Type.Optional(openOneOf(['http', 'https'])),
  hostname: Type.Optional(subdomain()),
  path: Type.Optional(PathModifierSchema),
  port: Type.Optional(portNumber()),
  statusCode: openOneOf([301, 302, 303, 307, 308], { default: 302 }),
});
export type RequestRedirect = Described<typeof RequestRedirectSchema>;

export const UrlRewriteSchema = Type.Object({
  hostname: Type.Optional(subdomain()),
  path: Type.Optional(PathModifierSchema),
});
export type UrlRewrite = Described<typeof UrlRewriteSchema>;

/** GEP-1767. `maxAge` is in seconds. */
export const CorsSchema = Type.Object({
  allowOrigins: Type.Optional(
    setList(
      Type.String({
        minLength: 1,
        maxLength: 253,
        pattern:
          '(^\\*$)|(^(http(s)?):\\/\\/(((\\*\\.)?([a-zA-Z0-9\\-]+\\.)*[a-zA-Z0-9-]+|\\*)(:([0-9]{1,5}))?)$)',
        form: 'an origin such as "https://shop.example.com" or "https://*.example.com", or "*"',
      }),
      { maxItems: 64 },
    ),
  ),
  allowCredentials: Type.Optional(Type.Boolean()),
  allowMethods: Type.Optional(setList(openOneOf([...METHODS, '*']), { maxItems: 9 })),
  allowHeaders: Type.Optional(setList(headerName(), { maxItems: 64 })),
  exposeHeaders: Type.Optional(setList(headerName(), { maxItems: 64 })),
  maxAge: Type.Integer({ minimum: 1, default: 5 }),
});
export type Cors = Described<typeof CorsSchema>;

/** GEP-1494. `forwardBody.maxSize` is in bytes; absent or 0: the body is not sent. */
export const ExternalAuthSchema = Type.Object({
  protocol: openOneOf(['HTTP', 'GRPC']),
  backendRef: BackendObjectReferenceSchema,
  grpc: Type.Optional(
    Type.Object({ allowedHeaders: Type.Optional(setList(Type.String(), { maxItems: 64 })) }),
  ),
  http: Type.Optional(
    Type.Object({
      path: Type.Optional(
        Type.String({
          maxLength: 1024,
          pattern: "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$",
          form: 'a URL path such as "/check"',
        }),
      ),
      allowedHeaders: Type.Optional(setList(Type.String(), { maxItems: 64 })),
      allowedResponseHeaders: Type.Optional(setList(Type.String(), { maxItems: 64 })),
    }),
  ),
  forwardBody: Type.Optional(Type.Object({ maxSize: Type.Optional(Type.Integer()) })),
});
export type ExternalAuth = Described<typeof ExternalAuthSchema>;

/** Exactly the field that belongs to `type` is set; the API makes sure of it. */
export const HttpRouteFilterSchema = Type.Object({
  type: openOneOf([
    'RequestHeaderModifier',
    'ResponseHeaderModifier',
    'RequestMirror',
    'RequestRedirect',
    'URLRewrite',
    'ExtensionRef',
    'CORS',
    'ExternalAuth',
  ]),
  requestHeaderModifier: Type.Optional(HeaderModifierSchema),
  responseHeaderModifier: Type.Optional(HeaderModifierSchema),
  requestMirror: Type.Optional(RequestMirrorSchema),
  requestRedirect: Type.Optional(RequestRedirectSchema),
  urlRewrite: Type.Optional(UrlRewriteSchema),
  cors: Type.Optional(CorsSchema),
  externalAuth: Type.Optional(ExternalAuthSchema),
  extensionRef: Type.Optional(LocalObjectReferenceSchema),
});
export type HttpRouteFilter = Described<typeof HttpRouteFilterSchema>;

export const httpRouteFilters = () => Type.Optional(atomicList(HttpRouteFilterSchema, { maxItems: 16 }));
