import type { Certificate, UpstreamTls } from '../../ir/tls.js';
import type { Upstream } from '../../ir/upstream.js';
import { messageOf } from '../../util/errors.js';
import type { EndpointConnector } from '../exchange/upstream.js';
import { createIdentityCheck } from '../wire/tls/identity.js';
import type { SecureContexts } from '../wire/tls/secure-contexts.js';
import type { ClientTlsOptions } from '../wire/wire.js';
import {
  BalancedUpstream,
  type Connector,
  type ConnectorFactory,
  type UpstreamState,
} from './balanced-upstream.js';

interface Entry<C extends Connector> {
  readonly upstream: Upstream;
  readonly certificate: Certificate | undefined;
  readonly state: UpstreamState;
  readonly target: BalancedUpstream<C>;
}

/**
 * The upstreams of a worker by key.
 *
 * In: the sections `upstreams` and `certificates` of a configuration. Out: targets that compiled rules hold; a key
 * has the same target as long as it is configured, so that a change of endpoints touches no rule.
 */
export class UpstreamRegistry<C extends Connector = EndpointConnector> {
  readonly #contexts: SecureContexts;
  readonly #create: ConnectorFactory<C>;
  #entries: ReadonlyMap<string, Entry<C>> = new Map();

  constructor(contexts: SecureContexts, create: ConnectorFactory<C>) {
    this.#contexts = contexts;
    this.#create = create;
  }

  /** Unchanged elements must be the same objects (`===`) as before: nothing is done for them. */
  apply(upstreams: readonly Upstream[], certificates: ReadonlyMap<string, Certificate>): void {
    const before = this.#entries;
    const entries = new Map<string, Entry<C>>();
    for (const upstream of upstreams) {
      const certificate = certificates.get(upstream.tls?.clientCertificate ?? '');
      const known = before.get(upstream.key);
      if (known?.upstream === upstream && known.certificate === certificate) entries.set(upstream.key, known);
      else entries.set(upstream.key, this.#renew(upstream, certificate, known));
    }
    for (const [key, { target }] of before) if (!entries.has(key)) target.retire();
    this.#entries = entries;
  }

  get(key: string): BalancedUpstream<C> | undefined {
    return this.#entries.get(key)?.target;
  }

  /** Ends every connection at once. */
  close(): void {
    for (const { target } of this.#entries.values()) target.close();
    this.#entries = new Map();
  }

  #renew(upstream: Upstream, certificate: Certificate | undefined, known: Entry<C> | undefined): Entry<C> {
    const state = this.#stateOf(upstream, certificate, known);
    if (!known) return { upstream, certificate, state, target: new BalancedUpstream(state, this.#create) };
    known.target.update(state);
    return { upstream, certificate, state, target: known.target };
  }

  #stateOf(
    upstream: Upstream,
    certificate: Certificate | undefined,
    known: Entry<C> | undefined,
  ): UpstreamState {
    const { tls } = upstream;
    if (!tls) return { upstream, tls: undefined, fault: undefined };
    if (tls.clientCertificate !== undefined && !certificate) {
      return { upstream, tls: undefined, fault: `the certificate ${tls.clientCertificate} is not there` };
    }
    // Endpoints change often, TLS seldom: equal settings keep the connections.
    if (known?.state.tls && known.certificate === certificate && isSameTls(known.upstream, upstream)) {
      return { upstream, tls: known.state.tls, fault: undefined };
    }
    try {
      return { upstream, tls: this.#clientTls(upstream, tls, certificate), fault: undefined };
    } catch (error) {
      return {
        upstream,
        tls: undefined,
        fault: `TLS to ${upstream.key} cannot be made: ${messageOf(error)}`,
      };
    }
  }

  #clientTls(upstream: Upstream, tls: UpstreamTls, certificate: Certificate | undefined): ClientTlsOptions {
    const context = this.#contexts.client({
      ...(tls.caBundle !== undefined && { ca: tls.caBundle }),
      ...(certificate && {
        keyPair: { chain: certificate.chain, privateKey: certificate.privateKey.reveal() },
      }),
    });
    return {
      context,
      serverName: tls.serverName,
      alpn: upstream.protocol === 'h2c' ? ['h2'] : upstream.protocol === 'http' ? ['http/1.1'] : [],
      verify: createIdentityCheck(tls),
      sessionKey: sessionKeyOf(upstream.key, tls, certificate),
    };
  }
}

function isSameTls(a: Upstream, b: Upstream): boolean {
  return a.protocol === b.protocol && JSON.stringify(a.tls) === JSON.stringify(b.tls);
}

/** A session stands for a verification that was made, so it is resumed under the same rules only. */
function sessionKeyOf(key: string, tls: UpstreamTls, certificate: Certificate | undefined): string {
  return JSON.stringify([key, tls, certificate?.chain]);
}
