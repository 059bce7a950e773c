import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';

import { HttpMethod, RequestContext, type KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';

import type { Clock } from '../util/clock.js';

/** What a request to the API server needs. */
export interface ApiAccess {
  /** Base address without a slash at the end. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: undici's own. */
  readonly dispatcher: Dispatcher | undefined;
}

/** How long credentials are used before the library is asked again (it re-reads tokens and runs exec plugins). */
const FRESH_MS = 10_000;
/** A refused credential makes the configuration be read again, but not by every one of many requests. */
const RELOAD_EVERY_MS = 5_000;

/**
 * Credentials by the library's own means: files, service account, exec plugins, OIDC, proxies.
 * The library makes a new connection pool for every request; here one lives as long as its TLS material does.
 */
export class KubeAuthentication {
  readonly #load: () => KubeConfig;
  readonly #clock: Clock;
  #config: KubeConfig;
  #reloadedAt = -Infinity;
  #access: Promise<ApiAccess> | undefined;
  #accessUntil = -Infinity;
  #pool: { readonly identity: string; readonly dispatcher: Dispatcher | undefined } | undefined;

  constructor(load: () => KubeConfig, clock: Clock) {
    this.#load = load;
    this.#clock = clock;
    this.#config = load();
  }

  /** Rejects when an exec plugin fails or a file cannot be read. */
  access(): Promise<ApiAccess> {
    if (this.#access === undefined || this.#clock.now() >= this.#accessUntil) {
      this.#accessUntil = this.#clock.now() + FRESH_MS;
      const access = this.#ask();
      this.#access = access;
      // The caller sees the rejection; the next call asks again.
      access.catch(() => {
        if (this.#access === access) this.#access = undefined;
      });
    }
    return this.#access;
  }

  /** The API server answered 401: a token may have been rotated. */
  refused(): void {
    if (this.#clock.now() - this.#reloadedAt < RELOAD_EVERY_MS) return;
    this.#reloadedAt = this.#clock.now();
    this.#access = undefined;
    try {
      this.#config = this.#load();
    } catch {
      // A file that is being replaced: the old configuration stays until the next refusal.
    }
  }

  async close(): Promise<void> {
    this.#access = undefined;
    await this.#pool?.dispatcher?.destroy();
    this.#pool = undefined;
  }

  async #ask(): Promise<ApiAccess> {
    const config = this.#config;
    const cluster = config.getCurrentCluster();
    const server = (cluster?.server ?? '').replace(/\/+$/, '');
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);

    const identity = fingerprint(server, cluster?.proxyUrl ?? '', options);
    if (this.#pool?.identity !== identity) {
      const context = new RequestContext(server, HttpMethod.GET);
      await config.applySecurityAuthentication(context);
      const old = this.#pool;
      this.#pool = { identity, dispatcher: context.getDispatcher() };
      // Ends when its last watch does.
      void old?.dispatcher?.close();
    }
    return { server, headers: headersOf(options), dispatcher: this.#pool.dispatcher };
  }
}

function fingerprint(server: string, proxy: string, options: RequestOptions): string {
  const hash = createHash('sha256');
  for (const part of [
    server,
    proxy,
    options.ca,
    options.cert,
    options.key,
    options.rejectUnauthorized,
    options.servername,
  ]) {
    hash.update(Buffer.isBuffer(part) ? part : JSON.stringify(part ?? null)).update('\0');
  }
  return hash.digest('base64');
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  if (options.headers === undefined || Array.isArray(options.headers)) return headers;
  for (const [name, value] of Object.entries(options.headers)) {
    // A token file may end with a line break, which no header may hold.
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}
