import type { Listener, Server } from '../../ir/listener.js';
import type { Certificate } from '../../ir/tls.js';
import { messageOf } from '../../util/errors.js';
import { TrustedProxies } from '../exchange/connection-context.js';
import type { ListenerRuntime, TlsServer } from '../listeners/connection-acceptor.js';
import { StreamDestination } from '../l4/stream-destination.js';
import { HostTable } from '../routing/host-table.js';
import type { SecureContexts } from '../wire/tls/secure-contexts.js';

interface Compiled {
  readonly listener: Listener;
  readonly certificates: readonly (Certificate | undefined)[];
  readonly runtime: ListenerRuntime;
}

export interface ListenerRuntimeOptions {
  readonly contexts: SecureContexts;
  /** 48 bytes that all workers share. */
  readonly ticketKeys: Buffer;
  /** Hears of servers whose certificates TLS does not take; they refuse handshakes and hinder nobody else. */
  readonly onFault: (server: string, problem: string) => void;
}

/** Makes what connections are accepted with; by identity, so only listeners that changed are made anew. */
export class ListenerRuntimes {
  readonly #options: ListenerRuntimeOptions;
  #compiled: ReadonlyMap<string, Compiled> = new Map();

  constructor(options: ListenerRuntimeOptions) {
    this.#options = options;
  }

  compile(
    listeners: ReadonlyMap<string, Listener>,
    certificates: ReadonlyMap<string, Certificate>,
  ): ReadonlyMap<string, ListenerRuntime> {
    const compiled = new Map<string, Compiled>();
    for (const [key, listener] of listeners) {
      const used = listener.servers.flatMap(({ tls }) => tls?.certificates ?? []);
      const found = used.map((certificate) => certificates.get(certificate));
      const before = this.#compiled.get(key);
      const isSame =
        before?.listener === listener && before.certificates.every((each, index) => each === found[index]);
      compiled.set(
        key,
        isSame ? before : { listener, certificates: found, runtime: this.#make(listener, certificates) },
      );
    }
    this.#compiled = compiled;
    return new Map([...compiled].map(([key, { runtime }]) => [key, runtime]));
  }

  #make(listener: Listener, certificates: ReadonlyMap<string, Certificate>): ListenerRuntime {
    const tlsServers = listener.servers.map((server): readonly [string, TlsServer] => [
      server.hostname,
      { server, tls: this.#tlsOf(server, certificates), stream: streamOf(server) },
    ]);
    const [only] = listener.servers;
    const isBare = listener.protocol === 'tcp' || listener.protocol === 'udp';
    return {
      listener,
      trusted: new TrustedProxies(listener.settings.trustedProxies),
      tlsServers: new HostTable(listener.protocol === 'tls' ? tlsServers : []),
      stream: isBare && only ? streamOf(only) : undefined,
    };
  }

  #tlsOf(
    { tls, listeners, application }: Server,
    certificates: ReadonlyMap<string, Certificate>,
  ): TlsServer['tls'] {
    if (!tls) return undefined;
    const { contexts, ticketKeys, onFault } = this.#options;
    const keyPairs = tls.certificates.flatMap((key) => {
      const certificate = certificates.get(key);
      return certificate ? [{ chain: certificate.chain, privateKey: certificate.privateKey.reveal() }] : [];
    });
    const validation = tls.clientValidation;
    try {
      if (keyPairs.length === 0) throw new Error('none of its certificates is there');
      const context = contexts.server({
        keyPairs,
        ticketKeys,
        // Who accepts every certificate must not verify any.
        ...(validation?.mode === 'require' && { clientCa: validation.caBundle }),
      });
      const alpn = application.type === 'http' ? ['h2', 'http/1.1'] : [];
      return { context, alpn, clientCertificate: clientCertificateOf(validation?.mode) };
    } catch (error) {
      onFault(listeners.join(', '), messageOf(error));
      return undefined;
    }
  }
}

function streamOf({ application }: Server): StreamDestination | undefined {
  return application.type === 'stream' ? new StreamDestination(application) : undefined;
}

function clientCertificateOf(
  mode: 'require' | 'insecure-fallback' | undefined,
): 'none' | 'request' | 'require' {
  if (mode === undefined) return 'none';
  return mode === 'require' ? 'require' : 'request';
}
