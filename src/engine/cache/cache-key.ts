import { createHash } from 'node:crypto';
import type { CachePolicy } from '../../ir/cache-policy.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';

/** Hosts whose beginnings are kept. */
const KEPT_HOSTS = 1024;
/** Paths whose keys are kept, each for the host that asked last; longer ones are not. */
const KEPT_PATHS = 1024;
const LONGEST_KEPT_PATH = 256;

interface KnownKey {
  readonly beginning: string;
  readonly key: string;
}

/**
 * The keys of what answers a GET, for one backend and policy: who it belongs to, the listener, the URL as the client asked
 * for it, the path as it is forwarded when a filter changed it, and what the policy adds. Every part has its length
 * before it.
 *
 * A key is the same object as the last time where it can be: then it need not be joined, hashed and compared again.
 */
export class CacheKeys {
  readonly #owner: string;
  readonly #keyParams: readonly string[] | undefined;
  readonly #keyHeaders: readonly string[];
  readonly #beginnings = new Map<string, string>();
  readonly #known = new Map<string, KnownKey>();
  #listener = '';
  #authority = '';
  /** Of the last listener and host. */
  #beginning = '';

  constructor(owner: string, { keyParams, keyHeaders }: Pick<CachePolicy, 'keyParams' | 'keyHeaders'>) {
    this.#owner = owner;
    this.#keyParams = keyParams?.includes('*') === true ? undefined : keyParams;
    this.#keyHeaders = keyHeaders;
  }

  of(exchange: Exchange): string {
    const { context, request, originalAuthority, originalPath } = exchange;
    if (context.listener !== this.#listener || originalAuthority !== this.#authority) {
      this.#listener = context.listener;
      this.#authority = originalAuthority;
      this.#beginning = this.#beginningOf(context, originalAuthority);
    }
    const isPathAll = !this.#keyParams && this.#keyHeaders.length === 0 && request.path === originalPath;
    return isPathAll ? this.#keyOfPath(originalPath) : this.#keyOfParts(exchange);
  }

  #keyOfPath(path: string): string {
    const known = this.#known.get(path);
    if (known?.beginning === this.#beginning) return known.key;
    const key = this.#beginning + keyPart(path);
    if (path.length > LONGEST_KEPT_PATH) return key;
    if (this.#known.size >= KEPT_PATHS) this.#known.clear();
    this.#known.set(path, { beginning: this.#beginning, key });
    return key;
  }

  #keyOfParts({ request, originalPath }: Exchange): string {
    let key = this.#beginning;
    key += this.#keyParams ? chosenQuery(originalPath, this.#keyParams) : keyPart(originalPath);
    if (request.path !== originalPath) key += keyPart(request.path.slice(0, request.queryStart));
    for (const name of this.#keyHeaders) key += headerPart(request.fields, name);
    return key;
  }

  /** The part that is the same for a listener and host: short, for a key that is not known is hashed. */
  #beginningOf({ listener, secure }: DownstreamContext, authority: string): string {
    const parts = [listener, secure ? 'https' : 'http', authority.toLowerCase()].map(keyPart).join('');
    let text = this.#beginnings.get(parts);
    if (text === undefined) {
      // 132 bits: nobody finds two of one digest.
      text = createHash('sha256').update(this.#owner).update(parts).digest('base64url').slice(0, 22);
      if (this.#beginnings.size >= KEPT_HOSTS) this.#beginnings.clear();
      this.#beginnings.set(parts, text);
    }
    return text;
  }
}

/** What invalidation names: the target URI of the client's request. */
export function cacheUriOf({ context, originalAuthority, originalPath }: Exchange): string {
  return `${context.secure ? 'https' : 'http'}://${originalAuthority.toLowerCase()}${originalPath}`;
}

/** With its length before it, so that no two lists of parts look alike. */
export function keyPart(text: string): string {
  return `${text.length}:${text}`;
}

function chosenQuery(path: string, names: readonly string[]): string {
  const at = path.indexOf('?');
  const queryAt = at < 0 ? path.length : at;
  return keyPart(path.slice(0, queryAt)) + keyPart(chosenParams(path, queryAt, names));
}

/** Each chosen parameter with all its values as they were sent; the request's order of names does not matter. */
function chosenParams(path: string, queryAt: number, names: readonly string[]): string {
  const pairs = path.slice(queryAt + 1).split('&');
  return names
    .map((name) => pairs.filter((pair) => pair === name || pair.startsWith(`${name}=`)))
    .flat()
    .map(keyPart)
    .join('');
}

/** Absent and empty are told apart. */
function headerPart(fields: Fields, name: string): string {
  return fields.has(name) ? `h${keyPart(fields.getAll(name).join(','))}` : 'a';
}
