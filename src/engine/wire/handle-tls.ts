import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { SecureContext } from 'node:tls';
import type {
  HandleBindings,
  HandleOwner,
  TcpHandle,
  TlsHandle,
  TlsOwner,
  WriteRequest,
} from './handle-bindings.js';
import type { ClientSessions } from './tls/client-sessions.js';
import { toAlpnList } from './tls/alpn.js';
import { identityRefusal } from './tls/identity.js';
import { NO_CLIENT_CERTIFICATE, toWireError } from './wire-faults.js';
import type { ClientTlsOptions, PeerCertificate, ServerTlsOptions, TlsSession, WireError } from './wire.js';

/**
 * OpenSSL on a libuv TCP handle, without net.Socket or TLSSocket objects.
 *
 * This is the one place where a TLS connection writes. TLSWrap holds one write at a time and aborts the process when
 * a second one starts before the first completes; so bytes that come meanwhile wait in a queue and leave together.
 * TLSWrap has encrypted (or copied) every byte when `writeBuffer` returns: the caller's buffer is free at once.
 */
export class TlsLayer implements TlsOwner {
  /** Held here because the native object is weak. */
  readonly stream: TlsHandle;
  secured = false;
  alpn = '';
  readonly #bindings: HandleBindings;
  readonly #connection: HandleOwner;
  readonly #judge: (layer: TlsLayer) => WireError | undefined;
  readonly #keepSession: ((session: Buffer) => void) | undefined;
  #peer: PeerCertificate | undefined;
  #pendingSession: Buffer | undefined;
  #writing = false;
  #queue: Buffer[] = [];
  /**
   * Two requests in turn: the one that completes is still on the native stack while the next write starts. Made when
   * they are needed: many connections write nothing, most write once.
   */
  #request: WriteRequest | undefined;
  #spare: WriteRequest | undefined;

  private constructor(
    raw: TcpHandle,
    connection: HandleOwner,
    bindings: HandleBindings,
    role: {
      readonly context: SecureContext;
      readonly isServer: boolean;
      readonly judge: (layer: TlsLayer) => WireError | undefined;
      readonly keepSession?: (session: Buffer) => void;
    },
  ) {
    const stream = bindings.wrapTls(raw, nativeContext(role.context), role.isServer, false);
    stream.layer = this;
    stream.connection = connection;
    stream.onhandshakedone = onHandshakeDone;
    stream.onerror = onTlsError;
    this.stream = stream;
    this.#bindings = bindings;
    this.#connection = connection;
    this.#judge = role.judge;
    this.#keepSession = role.keepSession;
  }

  static server(
    raw: TcpHandle,
    connection: HandleOwner,
    bindings: HandleBindings,
    options: ServerTlsOptions,
  ): TlsLayer {
    const { context, alpn, clientCertificate } = options;
    const judge = clientCertificate === 'require' ? clientRefusal : accept;
    const layer = new TlsLayer(raw, connection, bindings, { context, isServer: true, judge });
    if (clientCertificate !== 'none') layer.stream.setVerifyMode(true, clientCertificate === 'require');
    if (alpn.length > 0) layer.stream.setALPNProtocols(toAlpnList(alpn));
    return layer;
  }

  static client(
    raw: TcpHandle,
    connection: HandleOwner,
    bindings: HandleBindings,
    use: { readonly options: ClientTlsOptions; readonly sessions: ClientSessions },
  ): TlsLayer {
    const { options, sessions } = use;
    const { context, sessionKey } = options;
    const known = sessions.get(context, sessionKey);
    const layer = new TlsLayer(raw, connection, bindings, {
      context,
      isServer: false,
      judge: (judged) => {
        if (judged.stream.isSessionReused()) judged.#peer = known?.peer;
        const refusal = serverRefusal(judged, options);
        if (refusal !== undefined) sessions.drop(context, sessionKey);
        return refusal;
      },
      keepSession: (session) => {
        const peer = layer.peerCertificate();
        if (peer !== undefined) sessions.put(context, sessionKey, { session, peer });
      },
    });
    const { stream } = layer;
    stream.setVerifyMode(true, true);
    if (known !== undefined) stream.setSession(known.session);
    stream.onnewsession = onNewSession;
    stream.enableSessionCallbacks();
    if (options.alpn.length > 0) stream.setALPNProtocols(toAlpnList(options.alpn));
    if (isIP(options.serverName) === 0) stream.setServername(options.serverName);
    return layer;
  }

  /** 0: taken. 1: queued, the buffers stay with us until `drained`. Negative: the system's error number. */
  write(bytes: Buffer, more?: Buffer): number {
    if (this.#writing || !this.secured) {
      this.#queue.push(bytes);
      if (more !== undefined) this.#queue.push(more);
      return 1;
    }
    const { stream } = this;
    const request = this.#freeRequest();
    return this.#started(
      more === undefined ? stream.writeBuffer(request, bytes) : stream.writev(request, [bytes, more], true),
    );
  }

  /** Whether everything written has left OpenSSL: only then may the close alert follow. */
  get idle(): boolean {
    return !this.#writing && this.#queue.length === 0;
  }

  peerCertificate(): PeerCertificate | undefined {
    if (this.#peer === undefined) {
      const raw = this.stream.getPeerCertificate(false)?.raw;
      if (raw === undefined) return undefined;
      const { subject, subjectAltName = '' } = new X509Certificate(raw);
      this.#peer = { subject, subjectAltName, raw };
    }
    return this.#peer;
  }

  session(): TlsSession {
    const { stream } = this;
    return {
      protocol: stream.getProtocol(),
      cipher: stream.getCipher().name,
      resumed: stream.isSessionReused(),
    };
  }

  /** From OpenSSL, in the middle of a read. */
  handshakeDone(): void {
    if (this.secured) return;
    const refusal = this.#judge(this);
    if (refusal !== undefined) {
      this.#connection.fail(refusal);
      return;
    }
    this.secured = true;
    const alpn = this.stream.getALPNNegotiatedProtocol();
    this.alpn = alpn === false ? '' : alpn;
    if (this.#pendingSession !== undefined) this.#keepSession?.(this.#pendingSession);
    this.#pendingSession = undefined;
    this.#connection.ready();
    if (!this.#writing) this.#flush();
  }

  /** TLS 1.2 gives the session within the handshake, TLS 1.3 after it: only a verified peer's is kept. */
  newSession(session: Buffer): void {
    if (this.secured) this.#keepSession?.(session);
    else this.#pendingSession = session;
  }

  written(status: number): void {
    this.#writing = false;
    const done = this.#request;
    this.#request = this.#spare;
    this.#spare = done;
    if (status < 0) this.#connection.fail(status);
    else this.#flush();
  }

  #flush(): void {
    const queue = this.#queue;
    if (queue.length > 0) {
      this.#queue = [];
      const status =
        queue.length === 1 && queue[0] !== undefined
          ? this.stream.writeBuffer(this.#freeRequest(), queue[0])
          : this.stream.writev(this.#freeRequest(), queue, true);
      if (this.#started(status) < 0) {
        this.#connection.fail(status);
        return;
      }
    }
    this.#connection.drained();
  }

  #freeRequest(): WriteRequest {
    return (this.#request ??= newRequest(this.#bindings, this));
  }

  #started(status: number): number {
    if (status !== 0) return status;
    const { state, lastWriteWasAsync } = this.#bindings;
    this.#writing = state[lastWriteWasAsync] !== 0;
    return 0;
  }
}

function newRequest(bindings: HandleBindings, layer: TlsLayer): WriteRequest {
  const request = new bindings.WriteWrap();
  request.oncomplete = onWritten;
  request.connection = undefined;
  request.layer = layer;
  request.bytes = undefined;
  request.more = undefined;
  return request;
}

function onWritten(this: WriteRequest, status: number): void {
  this.layer?.written(status);
}

function onHandshakeDone(this: TlsHandle): void {
  if (!this.connection.closed) this.layer.handshakeDone();
}

function onTlsError(this: TlsHandle, error: unknown): void {
  this.connection.fail(toWireError(error));
}

function onNewSession(this: TlsHandle, _id: Buffer, session: Buffer): void {
  if (!this.connection.closed) this.layer.newSession(session);
}

function accept(): undefined {
  return undefined;
}

function clientRefusal(layer: TlsLayer): WireError | undefined {
  // With a resumed TLS 1.3 session OpenSSL may be content without any certificate.
  return layer.peerCertificate() === undefined ? NO_CLIENT_CERTIFICATE : chainRefusal(layer);
}

function serverRefusal(layer: TlsLayer, options: ClientTlsOptions): WireError | undefined {
  return chainRefusal(layer) ?? identityRefusal(layer.peerCertificate(), options);
}

function chainRefusal(layer: TlsLayer): WireError | undefined {
  const verdict = layer.stream.verifyError();
  return verdict === null || verdict === undefined ? undefined : toWireError(verdict);
}

/** A SecureContext is a thin object around the native one, which `wrap` wants. */
function nativeContext(context: SecureContext): unknown {
  return Reflect.get(context, 'context');
}
