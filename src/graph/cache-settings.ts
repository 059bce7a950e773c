import type { TricksterCachePolicy } from '../apis/policy/trickster-cache-policy.js';
import { parseDuration } from '../util/duration.js';

type Spec = TricksterCachePolicy['spec'];

/** What one policy, or several merged, say about caching and forwarding. Absent: nothing. */
export interface CacheSettings {
  readonly handler?: 'proxy' | 'proxycache';
  readonly cacheName?: string;
  readonly negativeCacheName?: string;
  readonly maxTtlMs?: number;
  readonly timeoutMs?: number;
  readonly collapsedForwarding?: 'basic' | 'progressive';
  readonly keyParams?: readonly string[];
  /** Lower case. */
  readonly keyHeaders?: readonly string[];
  /** Sorted by lower-case name, each once. */
  readonly requestHeaders?: readonly HeaderChange[];
  readonly responseHeaders?: readonly HeaderChange[];
  readonly resultHeader?: 'expose' | 'hide';
}

export interface HeaderChange {
  readonly operation: 'set' | 'append' | 'remove';
  readonly name: string;
  /** Absent for `remove`. */
  readonly value?: string;
}

export type ParsedCacheSettings =
  | { readonly settings: CacheSettings }
  /** One unusable value makes the whole policy unusable. */
  | { readonly problem: string };

/** Reads the settings of a policy; what the schema of its CRD should have refused is refused here. */
export function parseCacheSettings(spec: Spec): ParsedCacheSettings {
  const problem = findUnsupported(spec) ?? findBadValue(spec);
  if (problem !== undefined) return { problem };
  return { settings: { ...namesOf(spec), ...timesOf(spec), ...keyOf(spec), ...headersOf(spec) } };
}

function namesOf({ handler, cacheName, negativeCacheName, collapsedForwarding }: Spec): CacheSettings {
  return {
    ...(handler && { handler }),
    ...(cacheName !== undefined && { cacheName }),
    ...(negativeCacheName !== undefined && { negativeCacheName }),
    ...(collapsedForwarding && { collapsedForwarding }),
  };
}

function timesOf({ maxTTL, timeout }: Spec): CacheSettings {
  const maxTtlMs = maxTTL === undefined ? undefined : parseDuration(maxTTL);
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
  return { ...(maxTtlMs !== undefined && { maxTtlMs }), ...(timeoutMs !== undefined && { timeoutMs }) };
}

function keyOf({ cacheKeyParams, cacheKeyHeaders }: Spec): CacheSettings {
  return {
    ...(cacheKeyParams && { keyParams: sortedOnce(cacheKeyParams) }),
    ...(cacheKeyHeaders && { keyHeaders: sortedOnce(cacheKeyHeaders.map((name) => name.toLowerCase())) }),
  };
}

function headersOf({ requestHeaders, responseHeaders, resultHeader }: Spec): CacheSettings {
  return {
    ...(requestHeaders && { requestHeaders: toChanges(requestHeaders) }),
    ...(responseHeaders && { responseHeaders: toChanges(responseHeaders) }),
    ...(resultHeader && { resultHeader: resultHeader === 'Hide' ? 'hide' : 'expose' }),
  };
}

/** Values of fields that this build honours; the fields that are not here it honours with any value. */
const ONLY: ReadonlyMap<keyof Spec, readonly string[]> = new Map<keyof Spec, readonly string[]>([
  ['healthMode', ['provider']],
  ['loadBalancing', ['rr']],
  ['sticky', ['none']],
  ['provider', []],
  ['cors', []],
  ['loadBalancingKey', []],
  ['stickyKey', []],
  ['stickyTTL', []],
  ['stickyIdle', []],
  ['stepAlignment', []],
]);

/** A wish that cannot be fulfilled is no wish that may be dropped. */
function findUnsupported(spec: Spec): string | undefined {
  for (const [field, values] of ONLY) {
    const value = spec[field];
    if (value === undefined || (typeof value === 'string' && values.includes(value))) continue;
    if (values.length === 0 || typeof value !== 'string') return `spec.${field} is not supported`;
    return `spec.${field}: "${value}" is not supported, only ${values.join(', ')}`;
  }
  return undefined;
}

function findBadValue(spec: Spec): string | undefined {
  for (const field of ['maxTTL', 'timeout'] as const) {
    const text = spec[field];
    if (text !== undefined && parseDuration(text) === undefined)
      return `spec.${field}: "${text}" is not a duration with a unit`;
  }
  for (const name of spec.cacheKeyHeaders ?? [])
    if (!isFieldName(name)) return `spec.cacheKeyHeaders: "${name}" is no header name`;
  return findBadHeader('requestHeaders', spec) ?? findBadHeader('responseHeaders', spec);
}

/** Within one map a header appears once, across spellings and operators. */
function findBadHeader(field: 'requestHeaders' | 'responseHeaders', spec: Spec): string | undefined {
  const seen = new Set<string>();
  for (const [key, value] of Object.entries(spec[field] ?? {})) {
    const { name } = toChange(key, value);
    if (!isFieldName(name)) return `spec.${field}: "${key}" is no header name`;
    if (!isFieldValue(value)) return `spec.${field}: the value of "${key}" has a control character`;
    if (seen.has(name.toLowerCase())) return `spec.${field}: "${name}" is there more than once`;
    seen.add(name.toLowerCase());
  }
  return undefined;
}

/** RFC 9110 §5.1. */
function isFieldName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name);
}

/** RFC 9110 §5.5. */
function isFieldValue(value: string): boolean {
  return !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value);
}

function toChanges(map: Readonly<Record<string, string>>): readonly HeaderChange[] {
  return sortedChanges(Object.entries(map).map(([key, value]) => toChange(key, value)));
}

function toChange(key: string, value: string): HeaderChange {
  if (key.startsWith('-')) return { operation: 'remove', name: key.slice(1) };
  if (key.startsWith('+')) return { operation: 'append', name: key.slice(1), value };
  return { operation: 'set', name: key, value };
}

/**
 * The more specific settings over the less specific ones, field by field. Lists replace as a whole; header changes
 * fold to one for each name, which is what applying one after the other would come to.
 */
export function mergeCacheSettings(base: CacheSettings, specific: CacheSettings): CacheSettings {
  const requestHeaders = mergeChanges(base.requestHeaders, specific.requestHeaders);
  const responseHeaders = mergeChanges(base.responseHeaders, specific.responseHeaders);
  return {
    ...base,
    ...specific,
    ...(requestHeaders && { requestHeaders }),
    ...(responseHeaders && { responseHeaders }),
  };
}

function mergeChanges(
  base: readonly HeaderChange[] | undefined,
  specific: readonly HeaderChange[] | undefined,
): readonly HeaderChange[] | undefined {
  if (!base || !specific) return specific ?? base;
  const byName = new Map(base.map((change) => [change.name.toLowerCase(), change]));
  for (const change of specific) {
    const name = change.name.toLowerCase();
    byName.set(name, foldChange(byName.get(name), change));
  }
  return sortedChanges([...byName.values()]);
}

/** Appending to what was set is setting both; to what was removed, setting the new one alone. */
function foldChange(before: HeaderChange | undefined, change: HeaderChange): HeaderChange {
  if (change.operation !== 'append' || before === undefined) return change;
  if (before.operation === 'remove') return { ...change, operation: 'set' };
  return { ...before, value: `${before.value ?? ''}, ${change.value ?? ''}` };
}

function sortedChanges(changes: readonly HeaderChange[]): readonly HeaderChange[] {
  return [...changes].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
