import type { ExternalAuth, HttpRouteFilter, PathModifier } from '../apis/gateway/http-filter.js';
import type { HeaderModifier } from '../apis/gateway/route-filter.js';
import { isUnsupported } from '../apis/unsupported-value.js';
import type { FilterNode } from '../graph/http-rule.js';
import type * as ir from '../ir/http-filter.js';
import type { UpstreamNames } from './upstream-request.js';

/**
 * The order of application: who may ask at all comes first, then what the request becomes (a mirror gets it as
 * changed by the header filters), then where it goes, last what the answer becomes.
 */
const ORDER: Readonly<Record<ir.HttpFilter['type'], number>> = {
  cors: 0,
  'external-auth': 1,
  'request-headers': 2,
  mirror: 3,
  redirect: 4,
  rewrite: 5,
  'response-headers': 6,
};

/** One for all rules and backends without filters: most are. */
const NO_FILTERS: readonly ir.HttpFilter[] = [];

export function toFilters(nodes: readonly FilterNode[], upstreams: UpstreamNames): readonly ir.HttpFilter[] {
  if (nodes.length === 0) return NO_FILTERS;
  return nodes.flatMap((node) => toFilter(node, upstreams)).sort((a, b) => ORDER[a.type] - ORDER[b.type]);
}

function toFilter(node: FilterNode, upstreams: UpstreamNames): readonly ir.HttpFilter[] {
  const { filter } = node;
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return toRequestHeaders(filter.requestHeaderModifier ?? {});
    case 'ResponseHeaderModifier':
      return [toModifier('response-headers', filter.responseHeaderModifier ?? {})];
    case 'RequestRedirect':
      return toRedirect(filter);
    case 'URLRewrite':
      return toRewrite(filter);
    case 'RequestMirror':
      return toMirror(node, upstreams);
    case 'CORS':
      return toCors(filter);
    case 'ExternalAuth':
      return filter.externalAuth ? [toExternalAuth(node, filter.externalAuth, upstreams)] : [];
    default:
      // A rule with an ExtensionRef, or with a type that is not supported, is faulty and has no filters.
      return [];
  }
}

/** Setting `Host` is a rewrite of the host: it is the request's authority, not a header among others. */
function toRequestHeaders(modifier: HeaderModifier): readonly ir.HttpFilter[] {
  const host = modifier.set?.find(({ name }) => name.toLowerCase() === 'host');
  if (!host) return [toModifier('request-headers', modifier)];
  const set = (modifier.set ?? []).filter((one) => one !== host);
  return [toModifier('request-headers', { ...modifier, set }), { type: 'rewrite', hostname: host.value }];
}

function toModifier(type: ir.HeaderModifier['type'], modifier: HeaderModifier): ir.HeaderModifier {
  const { set = [], add = [], remove = [] } = modifier;
  return { type, set, add, remove };
}

function toRedirect({ requestRedirect }: HttpRouteFilter): readonly ir.RequestRedirect[] {
  if (!requestRedirect) return [];
  const { scheme, hostname, port, path, statusCode } = requestRedirect;
  // A rule with one is faulty.
  if (isUnsupported(statusCode) || isUnsupported(scheme)) return [];
  return [
    {
      type: 'redirect',
      ...(scheme !== undefined && { scheme }),
      ...(hostname !== undefined && { hostname }),
      ...(port !== undefined && { port }),
      ...(path && { path: toPathModifier(path) }),
      status: statusCode,
    },
  ];
}

function toRewrite({ urlRewrite }: HttpRouteFilter): readonly ir.UrlRewrite[] {
  if (!urlRewrite) return [];
  const { hostname, path } = urlRewrite;
  return [
    {
      type: 'rewrite',
      ...(hostname !== undefined && { hostname }),
      ...(path && { path: toPathModifier(path) }),
    },
  ];
}

function toPathModifier(path: PathModifier): ir.PathModifier {
  return path.type === 'ReplaceFullPath'
    ? { type: 'full', value: path.replaceFullPath ?? '/' }
    : { type: 'prefix', value: path.replacePrefixMatch ?? '' };
}

function toMirror({ filter, backend }: FilterNode, upstreams: UpstreamNames): readonly ir.RequestMirror[] {
  if (!filter.requestMirror) return [];
  const { percent, fraction } = filter.requestMirror;
  const share = fraction ?? { numerator: percent ?? 100, denominator: 100 };
  const target = backend && 'target' in backend ? backend.target : undefined;
  return [
    {
      type: 'mirror',
      ...(target && { upstream: upstreams.http(target) }),
      numerator: share.numerator,
      denominator: share.denominator,
    },
  ];
}

function toCors({ cors }: HttpRouteFilter): readonly ir.Cors[] {
  if (!cors) return [];
  return [
    {
      type: 'cors',
      allowOrigins: cors.allowOrigins ?? [],
      allowCredentials: cors.allowCredentials ?? false,
      allowMethods: cors.allowMethods ?? [],
      allowHeaders: cors.allowHeaders ?? [],
      exposeHeaders: cors.exposeHeaders ?? [],
      maxAgeSeconds: cors.maxAge,
    },
  ];
}

function toExternalAuth(
  { backend }: FilterNode,
  auth: ExternalAuth,
  upstreams: UpstreamNames,
): ir.ExternalAuth {
  const target = backend && 'target' in backend ? backend.target : undefined;
  return auth.protocol === 'GRPC'
    ? toGrpcAuth(auth, target && upstreams.grpc(target))
    : toHttpAuth(auth, target && upstreams.http(target));
}

function toGrpcAuth({ grpc, forwardBody }: ExternalAuth, upstream: string | undefined): ir.ExternalAuth {
  return {
    type: 'external-auth',
    protocol: 'grpc',
    ...(upstream !== undefined && { upstream }),
    path: '',
    allowedRequestHeaders: grpc?.allowedHeaders ?? [],
    allowedResponseHeaders: [],
    forwardBodyBytes: forwardBody?.maxSize ?? 0,
  };
}

function toHttpAuth({ http = {}, forwardBody }: ExternalAuth, upstream: string | undefined): ir.ExternalAuth {
  const { path = '', allowedHeaders = [], allowedResponseHeaders = [] } = http;
  return {
    type: 'external-auth',
    protocol: 'http',
    ...(upstream !== undefined && { upstream }),
    path,
    allowedRequestHeaders: allowedHeaders,
    allowedResponseHeaders,
    forwardBodyBytes: forwardBody?.maxSize ?? 0,
  };
}
