import type { SecureContext } from 'node:tls';
import type { PeerCertificate } from '../wire.js';

/** Most sessions kept for one context; the oldest goes first. */
const LIMIT = 1024;

/** `peer` is kept beside it because Node does not show a resumed client who it talks to. */
export interface ClientSession {
  readonly session: Buffer;
  readonly peer: PeerCertificate;
}

/**
 * TLS sessions to resume, by context and key. They are bound to the context because a session is only as
 * trustworthy as the CAs that its first handshake was verified with. Kept as long as the context lives.
 */
export class ClientSessions {
  readonly #byContext = new WeakMap<SecureContext, Map<string, ClientSession>>();

  get(context: SecureContext, key: string): ClientSession | undefined {
    return this.#byContext.get(context)?.get(key);
  }

  put(context: SecureContext, key: string, session: ClientSession): void {
    let sessions = this.#byContext.get(context);
    if (sessions === undefined) {
      sessions = new Map();
      this.#byContext.set(context, sessions);
    }
    sessions.delete(key);
    sessions.set(key, session);
    if (sessions.size <= LIMIT) return;

    for (const oldest of sessions.keys()) {
      sessions.delete(oldest);
      return;
    }
  }

  /** Forgets a session that the peer has refused. */
  drop(context: SecureContext, key: string): void {
    this.#byContext.get(context)?.delete(key);
  }
}
