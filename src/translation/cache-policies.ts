import type { CacheSettings } from '../graph/cache-settings.js';
import type { CachePolicy } from '../ir/cache-policy.js';
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

/** The policies of a configuration, each once, and their keys. */
export class PolicyNames {
  readonly #byKey = new Map<string, CachePolicy>();
  readonly #bySettings = new Map<CacheSettings, string>();

  /** The key of the policy that the settings come to. */
  name(settings: CacheSettings): string {
    const known = this.#bySettings.get(settings);
    if (known !== undefined) return known;
    const policy = toCachePolicy(settings);
    if (!this.#byKey.has(policy.key)) this.#byKey.set(policy.key, policy);
    this.#bySettings.set(settings, policy.key);
    return policy.key;
  }

  /** Sorted by key. */
  get policies(): readonly CachePolicy[] {
    return [...this.#byKey.keys()].sort().flatMap((key) => this.#byKey.get(key) ?? []);
  }
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
