import type { SessionPersistence } from '../../ir/http.js';
import type { Exchange } from '../exchange/exchange.js';
import type { ResponseHead } from '../exchange/heads.js';
import type { Affinity, BackendEntry } from '../exchange/route-entry.js';
import type { Session, SessionTokens } from './session-token.js';

export interface AffinityOptions {
  readonly persistence: SessionPersistence;
  /** Names the rule in tokens: the route's key and the rule's name or index. */
  readonly rule: string;
  readonly entries: readonly BackendEntry[];
  readonly tokens: SessionTokens;
  /** In ms since 1970. */
  readonly now: () => number;
}

/** A token is renewed when this share of the idle timeout has passed since it was last. */
const RENEWAL_SHARE = 0.1;

/** Keeps a client's requests on one endpoint by a signed token in a cookie or header (GEP-1619). */
export class SessionAffinity implements Affinity {
  readonly #options: AffinityOptions;

  constructor(options: AffinityOptions) {
    this.#options = options;
  }

  /** An existing session comes before weights; a backend of weight 0 keeps the ones it has. */
  find(exchange: Exchange): { readonly backend: BackendEntry; readonly endpoint: string } | undefined {
    const session = this.#sessionOf(exchange);
    if (!session) return undefined;
    const backend = this.#options.entries.find(({ upstream }) => upstream?.key === session.upstream);
    return backend && { backend, endpoint: session.endpoint };
  }

  remember(exchange: Exchange, head: ResponseHead): void {
    const { endpoint, backend } = exchange;
    if (!endpoint || !backend?.upstream) return;
    const nowMs = this.#options.now();
    const known = this.#sessionOf(exchange);
    const where = { upstream: backend.upstream.key, endpoint: `${endpoint.address}:${endpoint.port}` };
    const isKept = known?.upstream === where.upstream && known.endpoint === where.endpoint;
    if (isKept && !this.#needsRenewal(known, nowMs)) return;
    const createdAtMs = known?.createdAtMs ?? nowMs;
    const session = { rule: this.#options.rule, ...where, createdAtMs, usedAtMs: nowMs };
    this.#give(exchange, head, session);
  }

  #give(exchange: Exchange, head: ResponseHead, session: Session): void {
    const { persistence, tokens } = this.#options;
    const token = tokens.seal(session);
    if (persistence.type === 'header') head.fields.set(persistence.name.toLowerCase(), token);
    else head.fields.add('set-cookie', this.#cookie(exchange, token, session));
  }

  #cookie(exchange: Exchange, token: string, { createdAtMs, usedAtMs }: Session): string {
    const { name, lifetime, absoluteTimeoutMs } = this.#options.persistence;
    const path = exchange.route?.matchedPrefix;
    const attributes = [`${name}=${token}`, `Path=${path === undefined || path === '' ? '/' : path}`];
    if (lifetime === 'permanent' && absoluteTimeoutMs !== undefined) {
      const leftMs = createdAtMs + absoluteTimeoutMs - usedAtMs;
      attributes.push(`Max-Age=${Math.max(0, Math.floor(leftMs / 1000))}`);
    }
    attributes.push('HttpOnly', 'SameSite=Strict');
    if (exchange.context.secure) attributes.push('Secure');
    return attributes.join('; ');
  }

  #sessionOf({ request }: Exchange): Session | undefined {
    const { persistence, rule, tokens, now } = this.#options;
    const { fields } = request;
    const token =
      persistence.type === 'header'
        ? fields.get(persistence.name.toLowerCase())
        : cookieOf(fields.getAll('cookie'), persistence.name);
    const session = token === undefined ? undefined : tokens.open(token, rule);
    return session && !this.#isOver(session, now()) ? session : undefined;
  }

  #isOver({ createdAtMs, usedAtMs }: Session, nowMs: number): boolean {
    const { absoluteTimeoutMs = Infinity, idleTimeoutMs = Infinity } = this.#options.persistence;
    return nowMs - createdAtMs > absoluteTimeoutMs || nowMs - usedAtMs > idleTimeoutMs;
  }

  #needsRenewal({ usedAtMs }: Session, nowMs: number): boolean {
    const { idleTimeoutMs } = this.#options.persistence;
    return idleTimeoutMs !== undefined && nowMs - usedAtMs > idleTimeoutMs * RENEWAL_SHARE;
  }
}

function cookieOf(lines: readonly string[], name: string): string | undefined {
  for (const pair of lines.join(';').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
