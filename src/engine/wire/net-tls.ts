import { isIP, type Socket } from 'node:net';
import { connect, TLSSocket } from 'node:tls';
import type { ClientSessions } from './tls/client-sessions.js';
import { identityRefusal } from './tls/identity.js';
import { NO_CLIENT_CERTIFICATE, toWireError } from './wire-faults.js';
import type { ClientTlsOptions, PeerCertificate, ServerTlsOptions, TlsSession, WireError } from './wire.js';

/** A connection, as its TLS calls it. */
export interface NetTlsOwner {
  readonly closed: boolean;
  /** The handshake is done and the peer is who it should be. */
  ready(): void;
  fail(error: WireError): void;
}

/** Node's TLS socket on the TCP socket of a connection: its handshake, and whether the peer is let in. */
export class NetTls {
  readonly socket: TLSSocket;
  alpn = '';
  readonly #owner: NetTlsOwner;
  #peer: PeerCertificate | undefined;

  private constructor(socket: TLSSocket, owner: NetTlsOwner) {
    this.socket = socket;
    this.#owner = owner;
    const fail = (error: Error): void => {
      owner.fail(toWireError(error));
    };
    socket.on('error', fail);
    // A TLS server socket of its own tells errors of and after the handshake only by this event.
    socket.on('_tlsError', fail);
  }

  static server(raw: Socket, owner: NetTlsOwner, options: ServerTlsOptions): NetTls {
    const { context, alpn, clientCertificate } = options;
    const socket = new TLSSocket(raw, {
      isServer: true,
      secureContext: context,
      requestCert: clientCertificate !== 'none',
      rejectUnauthorized: clientCertificate === 'require',
      ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
    });
    const tls = new NetTls(socket, owner);
    socket.once('secure', () => {
      if (owner.closed) return;
      const peer = peerCertificateOf(socket);
      tls.#judged(peer, clientCertificate === 'require' ? clientRefusal(socket, peer) : undefined);
    });
    return tls;
  }

  static client(
    raw: Socket,
    owner: NetTlsOwner,
    { options, sessions }: { readonly options: ClientTlsOptions; readonly sessions: ClientSessions },
  ): NetTls {
    const { context, serverName, alpn, sessionKey } = options;
    const known = sessions.get(context, sessionKey);
    const socket = connect({
      socket: raw,
      secureContext: context,
      rejectUnauthorized: true,
      // The name is checked below, also on resumed sessions.
      checkServerIdentity: () => undefined,
      ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
      ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
      ...(known === undefined ? {} : { session: known.session }),
    });
    const tls = new NetTls(socket, owner);
    // Node holds a session back until the handshake is verified, which includes the refusal below.
    socket.on('session', (session: Buffer) => {
      const peer = tls.#peer;
      if (!owner.closed && peer !== undefined) sessions.put(context, sessionKey, { session, peer });
    });
    socket.once('secureConnect', () => {
      if (owner.closed) return;
      const peer = socket.isSessionReused() ? known?.peer : peerCertificateOf(socket);
      const refusal = identityRefusal(peer, options);
      if (refusal !== undefined) sessions.drop(context, sessionKey);
      tls.#judged(peer, refusal);
    });
    return tls;
  }

  peerCertificate(): PeerCertificate | undefined {
    return this.#peer;
  }

  session(): TlsSession {
    const { socket } = this;
    return {
      protocol: socket.getProtocol() ?? '',
      cipher: socket.getCipher().name,
      resumed: socket.isSessionReused(),
    };
  }

  #judged(peer: PeerCertificate | undefined, refusal: WireError | undefined): void {
    if (refusal !== undefined) {
      this.#owner.fail(refusal);
      return;
    }
    const { alpnProtocol } = this.socket;
    this.alpn = alpnProtocol === false || alpnProtocol === null ? '' : alpnProtocol;
    this.#peer = peer;
    this.#owner.ready();
  }
}

/** Asked once: on a client, Node takes the leaf out of the chain that it shows. */
function peerCertificateOf(socket: TLSSocket): PeerCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  return {
    subject: certificate.subject,
    subjectAltName: certificate.subjectAltName ?? '',
    raw: certificate.raw,
  };
}

/**
 * Why a client's certificate does not do. Node tells a TLS server socket of its own neither `authorized` nor
 * `authorizationError`, so OpenSSL's verdict is asked for; when it cannot be had, the client is refused.
 */
function clientRefusal(socket: TLSSocket, peer: PeerCertificate | undefined): WireError | undefined {
  if (peer === undefined) return NO_CLIENT_CERTIFICATE;
  const ssl: unknown = Reflect.get(socket, 'ssl');
  const ask: unknown = typeof ssl === 'object' && ssl !== null ? Reflect.get(ssl, 'verifyError') : undefined;
  if (typeof ask !== 'function') {
    return {
      code: 'ERR_WIRE_UNAVAILABLE',
      message: 'this Node does not tell whether a client certificate verifies',
    };
  }
  const verdict: unknown = Reflect.apply(ask, ssl, []);
  return verdict === null || verdict === undefined ? undefined : toWireError(verdict);
}
