import type { OnReadOpts, Socket } from 'node:net';
import { isIP } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { messageOf } from '../../util/errors.js';
import type { ClientSessions } from './tls/client-sessions.js';
import { createIdentityCheck } from './tls/identity.js';
import { CONNECT_TIMEOUT, HANDSHAKE_CUT, NO_HANDLER, toWireError } from './wire-faults.js';
import {
  FAILED,
  PENDING,
  WRITTEN,
  type ClientTlsOptions,
  type Connection,
  type ConnectionHandler,
  type ConnectOptions,
  type FaultReport,
  type PeerCertificate,
  type ServerTlsOptions,
  type TlsSession,
  type WireError,
  type WriteOutcome,
} from './wire.js';

/**
 * Where every plain upstream read of this thread lands before it is copied to the handler's buffer. A handler may
 * take its buffer away at any time, so Node never gets to know it.
 */
const LANDING = Buffer.allocUnsafeSlow(64 * 1024);

interface ConnectContext {
  readonly handler: ConnectionHandler;
  readonly report: FaultReport;
  readonly sessions: ClientSessions;
}

export class NetConnection implements Connection {
  handler: ConnectionHandler;
  alpn = '';
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The TCP socket. Its `close` is the connection's. */
  readonly #raw: Socket;
  readonly #report: FaultReport;
  /** What application data flows through: the TCP socket or the TLS socket on it. */
  #socket: Socket;
  #buffer: Buffer | undefined;
  /** Bytes that came while paused, or that did not fit into the handler's buffer. */
  #rest: Buffer | undefined;
  /** Written before there was a TLS socket. */
  #early: Buffer[] = [];
  #reading = false;
  #flushing = false;
  /** The peer's FIN has come, but not been told while bytes before it wait. */
  #peerEnded = false;
  #endTold = false;
  #secure: boolean;
  #peer: PeerCertificate | undefined;
  #pending = false;
  #ending = false;
  #closed = false;
  #error: WireError | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    raw: Socket,
    handler: ConnectionHandler,
    report: FaultReport,
    remote: ConnectOptions | undefined,
  ) {
    this.handler = handler;
    this.remoteAddress = remote?.address ?? raw.remoteAddress ?? '';
    this.remotePort = remote?.port ?? raw.remotePort ?? 0;
    this.#raw = raw;
    this.#socket = raw;
    this.#report = report;
    this.#secure = true;
    raw.on('error', this.#onError);
    raw.on('close', this.#onClose);
  }

  static accepted(raw: Socket, report: FaultReport): NetConnection {
    const connection = new NetConnection(raw, NO_HANDLER, report, undefined);
    connection.#listen(raw);
    return connection;
  }

  static connecting(
    open: (onread: OnReadOpts) => Socket,
    options: ConnectOptions,
    context: ConnectContext,
  ): NetConnection {
    const raw = open({
      buffer: LANDING,
      callback: (length) => {
        connection.#onData(Buffer.from(LANDING.subarray(0, length)));
        return true;
      },
    });
    const connection = new NetConnection(raw, context.handler, context.report, options);
    raw.pause();
    connection.#startTimer(options.timeoutMs, CONNECT_TIMEOUT);
    connection.#secure = options.tls === undefined;
    raw.once('connect', () => {
      if (options.tls === undefined) connection.#connected();
      else connection.#startClientTls(options.tls, context.sessions);
    });
    if (options.tls === undefined) connection.#listen(raw);
    return connection;
  }

  get localAddress(): string {
    return this.#raw.localAddress ?? '';
  }

  get localPort(): number {
    return this.#raw.localPort ?? 0;
  }

  peerCertificate(): PeerCertificate | undefined {
    return this.#peer;
  }

  tlsSession(): TlsSession | undefined {
    const socket = this.#socket;
    if (!(socket instanceof TLSSocket) || this.#closed) return undefined;
    return {
      protocol: socket.getProtocol() ?? '',
      cipher: socket.getCipher().name,
      resumed: socket.isSessionReused(),
    };
  }

  readInto(buffer: Buffer): void {
    this.#buffer = buffer;
  }

  resume(): void {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    if (this.#rest !== undefined || this.#peerEnded) this.#flushLater();
    else if (this.#secure) this.#socket.resume();
  }

  pause(): void {
    this.#reading = false;
    if (this.#secure) this.#socket.pause();
  }

  write(bytes: Buffer, more?: Buffer): WriteOutcome {
    if (this.#closed || this.#ending) return FAILED;
    if (!this.#secure && this.#socket === this.#raw) {
      // Not in the clear: OpenSSL comes first.
      this.#early.push(bytes);
      if (more !== undefined) this.#early.push(more);
      this.#pending = true;
      return PENDING;
    }
    if (more === undefined) this.#socket.write(bytes, this.#onWritten);
    else this.#writeBoth(bytes, more);
    if (this.#socket.destroyed) return FAILED;
    // Node hands bytes to the kernel within write(); what is left counts here.
    if (this.#socket.writableLength === 0) return WRITTEN;
    this.#pending = true;
    return PENDING;
  }

  writeConstant(bytes: Buffer): WriteOutcome {
    return this.write(bytes);
  }

  #writeBoth(bytes: Buffer, more: Buffer): void {
    this.#socket.cork();
    this.#socket.write(bytes);
    this.#socket.write(more, this.#onWritten);
    this.#socket.uncork();
  }

  end(): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (this.#secure || this.#socket !== this.#raw) this.#socket.end();
  }

  close(): void {
    this.end();
    const socket = this.#socket;
    if (socket.writableFinished || !this.#secure) {
      this.destroy();
      return;
    }
    socket.once('finish', () => {
      this.destroy();
    });
  }

  destroy(): void {
    this.#stop(undefined);
    this.#raw.destroy();
  }

  reset(): void {
    this.#stop(undefined);
    // While a shutdown is under way libuv refuses a reset, after which Node would never close the socket.
    if (this.#ending && !this.#socket.writableFinished) this.#raw.destroy();
    else this.#raw.resetAndDestroy();
  }

  secure(options: ServerTlsOptions, received: Buffer): void {
    if (this.#closed) return;
    this.#secure = false;
    const first = Buffer.from(received);
    this.#raw.off('data', this.#onData);
    this.#raw.off('end', this.#onEnd);
    this.#raw.pause();
    // Within onRead the rest of the chunk is not known yet: it is by the next tick.
    process.nextTick(() => {
      if (!this.#closed) this.#startServerTls(options, first);
    });
  }

  #startServerTls(options: ServerTlsOptions, first: Buffer): void {
    const early = this.#rest === undefined ? first : Buffer.concat([first, this.#rest]);
    this.#rest = undefined;
    if (early.length > 0) this.#raw.unshift(early);
    const socket = new TLSSocket(this.#raw, {
      isServer: true,
      secureContext: options.context,
      requestCert: options.clientCertificate !== 'none',
      rejectUnauthorized: options.clientCertificate === 'require',
      ...(options.alpn.length === 0 ? {} : { ALPNProtocols: [...options.alpn] }),
    });
    this.#socket = socket;
    socket.once('secure', () => {
      if (this.#closed) return;
      const refusal = options.clientCertificate === 'require' ? clientRefusal(socket) : undefined;
      if (refusal !== undefined) {
        this.#fail(refusal);
        return;
      }
      this.#handshakeDone(socket);
      this.#call(() => {
        this.handler.onSecure();
      });
    });
    this.#listenTls(socket);
  }

  #startClientTls(tls: ClientTlsOptions, sessions: ClientSessions): void {
    const known = sessions.get(tls.context, tls.sessionKey);
    const socket = connectTls({
      socket: this.#raw,
      secureContext: tls.context,
      rejectUnauthorized: true,
      // The name is checked below, also on resumed sessions.
      checkServerIdentity: () => undefined,
      ...(isIP(tls.serverName) === 0 ? { servername: tls.serverName } : {}),
      ...(tls.alpn.length === 0 ? {} : { ALPNProtocols: [...tls.alpn] }),
      ...(known === undefined ? {} : { session: known.session }),
    });
    this.#socket = socket;
    // Node holds a session back until the handshake is verified, which includes the refusal below.
    socket.on('session', (fresh: Buffer) => {
      if (this.#closed || this.#peer === undefined) return;
      sessions.put(tls.context, tls.sessionKey, { session: fresh, peer: this.#peer });
    });
    socket.once('secureConnect', () => {
      if (this.#closed) return;
      this.#peer = socket.isSessionReused() ? known?.peer : peerCertificateOf(socket);
      const refusal = serverRefusal(this.#peer, tls);
      if (refusal !== undefined) {
        sessions.drop(tls.context, tls.sessionKey);
        this.#fail(refusal);
        return;
      }
      this.#handshakeDone(socket);
      this.#connected();
    });
    this.#listenTls(socket);
  }

  #handshakeDone(socket: TLSSocket): void {
    clearTimeout(this.#timer);
    this.#peer ??= peerCertificateOf(socket);
    this.alpn = socket.alpnProtocol === false || socket.alpnProtocol === null ? '' : socket.alpnProtocol;
    this.#secure = true;
    if (this.#reading) socket.resume();
  }

  #listenTls(socket: TLSSocket): void {
    socket.on('error', this.#onError);
    // A TLS server socket of its own tells errors of and after the handshake only by this event.
    socket.on('_tlsError', (error: Error) => {
      this.#fail(toWireError(error));
    });
    this.#listen(socket);
    for (const bytes of this.#early) socket.write(bytes, this.#onWritten);
    this.#early = [];
    if (this.#ending) socket.end();
  }

  #listen(socket: Socket): void {
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.pause();
  }

  #connected(): void {
    clearTimeout(this.#timer);
    if (this.#reading) this.#socket.resume();
    this.#call(() => {
      this.handler.onConnect();
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#closed) return;
    if (this.#rest !== undefined) this.#rest = Buffer.concat([this.#rest, chunk]);
    else this.#deliver(chunk);
  };

  #deliver(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length && !this.#closed) {
      const buffer = this.#buffer;
      if (!this.#reading || buffer === undefined || buffer.length === 0) {
        this.#rest = chunk.subarray(offset);
        return;
      }
      const length = chunk.copy(buffer, 0, offset);
      offset += length;
      this.#call(() => {
        this.handler.onRead(buffer, length);
      });
    }
  }

  /** Bytes that waited are delivered from a fresh stack: callbacks never run within `resume`. */
  #flushLater(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(() => {
      this.#flushing = false;
      if (this.#closed || !this.#reading || !this.#secure) return;
      const rest = this.#rest;
      this.#rest = undefined;
      if (rest !== undefined) this.#deliver(rest);
      if (this.#peerEnded) this.#onEnd();
      if (this.#mayRead()) this.#socket.resume();
    });
  }

  #mayRead(): boolean {
    return this.#reading && this.#rest === undefined && !this.#closed;
  }

  readonly #onEnd = (): void => {
    if (this.#closed) return;
    if (!this.#secure) {
      this.#fail(HANDSHAKE_CUT);
      return;
    }
    this.#peerEnded = true;
    if (this.#endTold || this.#rest !== undefined) return;
    this.#endTold = true;
    this.#call(() => {
      this.handler.onEnd();
    });
  };

  readonly #onWritten = (): void => {
    if (!this.#pending || this.#closed || this.#socket.writableLength !== 0) return;
    this.#pending = false;
    this.#call(() => {
      this.handler.onDrain();
    });
  };

  readonly #onError = (error: Error): void => {
    this.#fail(toWireError(error));
  };

  readonly #onClose = (): void => {
    // The socket was closed under us, by both sides' FIN or by an error that #onError has kept.
    if (!this.#closed) this.#stop(this.#secure ? undefined : HANDSHAKE_CUT);
    try {
      this.handler.onClose(this.#error);
    } catch (error) {
      this.#report({ code: 'ERR_HANDLER_FAULT', error });
    }
  };

  #call(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#report({ code: 'ERR_HANDLER_FAULT', error });
      this.#fail({ code: 'ERR_HANDLER_FAULT', message: messageOf(error) });
    }
  }

  #startTimer(timeoutMs: number, error: WireError): void {
    this.#timer = setTimeout(() => {
      this.#fail(error);
    }, timeoutMs);
  }

  #fail(error: WireError): void {
    this.#stop(error);
    this.#raw.destroy();
  }

  #stop(error: WireError | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = error;
    this.#reading = false;
    this.#rest = undefined;
    clearTimeout(this.#timer);
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

function serverRefusal(
  certificate: PeerCertificate | undefined,
  tls: ClientTlsOptions,
): WireError | undefined {
  const verify = tls.verify ?? createIdentityCheck({ serverName: tls.serverName, subjectAltNames: [] });
  const reason = certificate === undefined ? 'the server has shown no certificate' : verify(certificate);
  return reason === undefined ? undefined : { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: reason };
}

/**
 * Why a client's certificate does not do. Node tells a TLS server socket of its own neither `authorized` nor
 * `authorizationError`, so OpenSSL's verdict is asked for; when it cannot be had, the client is refused.
 */
function clientRefusal(socket: TLSSocket): WireError | undefined {
  if (socket.getPeerX509Certificate() === undefined) {
    return { code: 'UNABLE_TO_GET_ISSUER_CERT', message: 'the client has shown no certificate' };
  }
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
