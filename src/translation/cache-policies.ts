import type { CacheSettings } from '../graph/cache-settings.js';
import type { RuleCacheSettings } from '../graph/route-cache-settings.js';
import type { CachePolicy } from '../ir/cache-policy.js';
import type { HttpRule } from '../ir/http.js';
import { compareText } from '../util/collections.js';

const DEFAULTS = {
  cacheName: 'default',
  keyHeaders: [],
  requestHeaders: [],
  responseHeaders: [],
  collapsedForwarding: 'basic',
  resultHeader: 'expose',
} as const;

/** What merged settings are for the engine. A cache that is named is meant to be used. */
export function toCachePolicy(settings: CacheSettings): CachePolicy {
  const content: Omit<CachePolicy, 'key'> = {
    ...DEFAULTS,
    handler: settings.cacheName === undefined ? 'proxy' : 'proxycache',
    ...settings,
  };
  const text = JSON.stringify(Object.entries(content).sort(([a], [b]) => compareText(a, b)));
  return { key: `${content.handler}-${fingerprint(text)}`, ...content };
}

export interface GovernedRules {
  readonly rules: readonly HttpRule[];
  /** Those that the rules name; one may be there several times. */
  readonly policies: readonly CachePolicy[];
}

/** Rules with the keys of the policies that the settings come to. */
export function governRules(
  rules: readonly HttpRule[],
  settings: readonly RuleCacheSettings[],
): GovernedRules {
  const policies: CachePolicy[] = [];
  const name = (merged: CacheSettings): string => {
    const policy = toCachePolicy(merged);
    policies.push(policy);
    return policy.key;
  };
  const byIndex = new Map(settings.map((one) => [one.index, one]));
  const governed = rules.map((rule): HttpRule => {
    const own = byIndex.get(rule.index);
    // A refusal is no response of an origin.
    if (!own || rule.refusal) return rule;
    const keys = new Map(own.backends.map((one) => [one.index, name(one.settings)]));
    const backends = rule.backends.map((backend, index) => {
      const policy = keys.get(index);
      return policy === undefined ? backend : { ...backend, policy };
    });
    return { ...rule, backends, ...(own.rule && { policy: name(own.rule) }) };
  });
  return { rules: governed, policies };
}

/**
 * 106 bits of a text, as two cyrb53 hashes: enough that two of a few thousand policies are never taken for one
 * another by chance. It guards against nothing: whoever writes policies may write the other one as well.
 */
function fingerprint(text: string): string {
  return `${hash(text, 0)}${hash(text, 1)}`;
}

function hash(text: string, seed: number): string {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36).padStart(11, '0');
}
