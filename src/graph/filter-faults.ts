import type { HttpRouteFilter } from '../apis/gateway/http-filter.js';
import type { HeaderModifier } from '../apis/gateway/route-filter.js';
import { isUnsupported, writtenValue } from '../apis/unsupported-value.js';
import type { RuleFault } from './http-rule.js';

/** Filters that may stand several times in a list; of the others there is at most one (HTTPRouteRule.Filters). */
const REPEATABLE: ReadonlySet<string> = new Set(['RequestMirror', 'ExtensionRef']);

/**
 * Fields that frame the message or belong to one hop. The engine makes them itself, so a filter that changes them
 * could only be ignored or break the message. `Host` may be set, which is a rewrite of the host.
 */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The first thing about a list of filters that cannot be honoured. */
export function findFilterFault(
  filters: readonly HttpRouteFilter[],
  rule: { readonly field: string; readonly prefixOnly: boolean },
): RuleFault | undefined {
  return findIncompatible(filters, rule.field) ?? findUnsupported(filters, rule);
}

function findIncompatible(filters: readonly HttpRouteFilter[], field: string): RuleFault | undefined {
  const types = filters.map(({ type }) => type);
  const repeated = types.find((type, index) => !REPEATABLE.has(type) && types.indexOf(type) !== index);
  if (repeated !== undefined) return incompatible(`${field}: ${repeated} stands there twice`);
  if (types.includes('RequestRedirect') && types.includes('URLRewrite')) {
    return incompatible(`${field}: RequestRedirect and URLRewrite exclude each other`);
  }
  const setsHost = filters.some(({ requestHeaderModifier }) =>
    requestHeaderModifier?.set?.some(({ name }) => name.toLowerCase() === 'host'),
  );
  const rewritesHost = filters.some(({ urlRewrite }) => urlRewrite?.hostname !== undefined);
  return setsHost && rewritesHost
    ? incompatible(`${field}: RequestHeaderModifier and URLRewrite both set the host`)
    : undefined;
}

function findUnsupported(
  filters: readonly HttpRouteFilter[],
  { field, prefixOnly }: { readonly field: string; readonly prefixOnly: boolean },
): RuleFault | undefined {
  for (const filter of filters) {
    const problem = newerValue(filter) ?? unsupportedPart(filter, prefixOnly);
    if (problem !== undefined) return { reason: 'UnsupportedValue', cause: `${field}: ${problem}` };
  }
  return undefined;
}

/** A constant of a newer version of the API, anywhere in the filter. */
function newerValue(filter: HttpRouteFilter): string | undefined {
  const { type, requestRedirect, urlRewrite, cors, externalAuth } = filter;
  if (isUnsupported(type)) return `type "${writtenValue(type)}" is not supported`;
  const newer = [
    requestRedirect?.scheme,
    requestRedirect?.statusCode,
    requestRedirect?.path?.type,
    urlRewrite?.path?.type,
    ...(cors?.allowMethods ?? []),
    externalAuth?.protocol,
  ].find(isUnsupported);
  return newer === undefined ? undefined : `${type}: "${writtenValue(newer)}" is not supported`;
}

function unsupportedPart(filter: HttpRouteFilter, prefixOnly: boolean): string | undefined {
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return modifierProblem(filter.type, filter.requestHeaderModifier, true);
    case 'ResponseHeaderModifier':
      return modifierProblem(filter.type, filter.responseHeaderModifier, false);
    case 'RequestRedirect':
      return pathProblem(filter.type, filter.requestRedirect, prefixOnly);
    case 'URLRewrite':
      return pathProblem(filter.type, filter.urlRewrite, prefixOnly);
    case 'RequestMirror':
      return mirrorProblem(filter);
    case 'ExtensionRef':
      return `ExtensionRef ${filter.extensionRef?.kind ?? ''} is not supported`;
    default:
      return withoutSettings(filter);
  }
}

function withoutSettings({ type, cors, externalAuth }: HttpRouteFilter): string | undefined {
  const settings = type === 'CORS' ? cors : externalAuth;
  return settings ? undefined : `${type} without its settings`;
}

function modifierProblem(
  type: string,
  modifier: HeaderModifier | undefined,
  isRequest: boolean,
): string | undefined {
  if (!modifier) return `${type} without headers`;
  const { set = [], add = [], remove = [] } = modifier;
  const names = [...set, ...add].map(({ name }) => name).concat(remove);
  const framing = names.find((name) => FRAMING.has(name.toLowerCase()));
  if (framing !== undefined) return `${type} must not change ${framing}`;
  const others = add.map(({ name }) => name).concat(remove);
  if (isRequest && others.some((name) => name.toLowerCase() === 'host')) {
    return `${type} may only set Host, not add or remove it`;
  }
  const bad = [...set, ...add].find(({ value }) => hasControlCharacter(value));
  return bad && `${type}: the value of ${bad.name} holds a control character`;
}

function hasControlCharacter(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code === 0x7f || (code < 0x20 && code !== 0x09)) return true;
  }
  return false;
}

function pathProblem(
  type: string,
  filter: HttpRouteFilter['urlRewrite'],
  prefixOnly: boolean,
): string | undefined {
  if (!filter) return `${type} without its settings`;
  const { path } = filter;
  if (path?.type === 'ReplacePrefixMatch' && !prefixOnly) {
    return `${type}: ReplacePrefixMatch needs matches of type PathPrefix only`;
  }
  const value = path?.type === 'ReplaceFullPath' ? path.replaceFullPath : path?.replacePrefixMatch;
  if (path && value === undefined) return `${type}: path of type ${path.type} without a value`;
  return value !== undefined && hasControlCharacter(value)
    ? `${type}: the path holds a control character`
    : undefined;
}

function mirrorProblem({ requestMirror }: HttpRouteFilter): string | undefined {
  if (!requestMirror) return 'RequestMirror without requestMirror';
  const { percent, fraction } = requestMirror;
  if (percent !== undefined && fraction) return 'RequestMirror has both percent and fraction';
  return fraction && fraction.numerator > fraction.denominator
    ? 'RequestMirror: the numerator is greater than the denominator'
    : undefined;
}

function incompatible(cause: string): RuleFault {
  return { reason: 'IncompatibleFilters', cause };
}
