import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a session is bound to. Times in ms since 1970. */
export interface Session {
  /** Sessions are per rule and not shared with others (GEP-1619). */
  readonly rule: string;
  /** `UpstreamTarget.key`. */
  readonly upstream: string;
  /** `address:port`. */
  readonly endpoint: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}

/**
 * Sessions as tokens that clients carry: readable, but not to be forged or moved to another rule. Every replica with
 * the same key understands them.
 */
export class SessionTokens {
  readonly #key: Buffer;

  /** `key`: at least 32 random bytes, the same for all workers and replicas. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  seal({ rule, upstream, endpoint, createdAtMs, usedAtMs }: Session): string {
    const seconds = [createdAtMs, usedAtMs].map((ms) => Math.floor(ms / 1000));
    const content = Buffer.from(JSON.stringify([upstream, endpoint, ...seconds])).toString('base64url');
    return `${content}.${this.#sign(rule, content).toString('base64url')}`;
  }

  /** Undefined when it was not made here, for this rule. */
  open(token: string, rule: string): Session | undefined {
    const [content = '', signature = '', ...rest] = token.split('.');
    const expected = this.#sign(rule, content);
    const actual = Buffer.from(signature, 'base64url');
    if (rest.length > 0 || actual.length !== expected.length || !timingSafeEqual(actual, expected))
      return undefined;
    return parseContent(Buffer.from(content, 'base64url').toString(), rule);
  }

  #sign(rule: string, content: string): Buffer {
    return createHmac('sha256', this.#key).update(`${rule.length}:${rule}${content}`).digest();
  }
}

function parseContent(text: string, rule: string): Session | undefined {
  const parsed: unknown = JSON.parse(text);
  const [upstream, endpoint, created, used] = Array.isArray(parsed) ? Array.from<unknown>(parsed) : [];
  if (typeof upstream !== 'string' || typeof endpoint !== 'string') return undefined;
  if (typeof created !== 'number' || typeof used !== 'number') return undefined;
  return { rule, upstream, endpoint, createdAtMs: created * 1000, usedAtMs: used * 1000 };
}
