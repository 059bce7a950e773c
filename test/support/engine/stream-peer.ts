import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  connect as connectTls,
  createServer as createTlsServer,
  TLSSocket,
  type ConnectionOptions,
} from 'node:tls';
import { until } from '../until.js';

/** A socket with everything that has happened to it. */
export class StreamPeer {
  readonly socket: Socket;
  readonly chunks: Buffer[] = [];
  bytes = 0;
  ended = false;
  closed = false;
  error: NodeJS.ErrnoException | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.bytes += chunk.length;
    });
    socket.on('end', () => (this.ended = true));
    socket.on('close', () => (this.closed = true));
    socket.on('error', (error) => (this.error = error));
  }

  static connect(port: number): StreamPeer {
    return new StreamPeer(connect({ host: '127.0.0.1', port, allowHalfOpen: true }));
  }

  static connectTls(port: number, options: ConnectionOptions): StreamPeer {
    return new StreamPeer(connectTls({ host: '127.0.0.1', port, ...options }));
  }

  get tls(): TLSSocket {
    if (this.socket instanceof TLSSocket) return this.socket;
    throw new Error('not a TLS connection');
  }

  get received(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.received.toString();
  }

  async hears(text: string): Promise<void> {
    await until(() => this.text === text);
  }
}

/** Accepts connections and keeps them. */
export class StreamOrigin {
  readonly peers: StreamPeer[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static start(script: (peer: StreamPeer) => void = () => undefined): Promise<StreamOrigin> {
    return StreamOrigin.#listen(createServer({ allowHalfOpen: true }), 'connection', script);
  }

  static startTls(
    credentials: { readonly certificate: string; readonly privateKey: string },
    script: (peer: StreamPeer) => void = () => undefined,
  ): Promise<StreamOrigin> {
    const { certificate: cert, privateKey: key } = credentials;
    return StreamOrigin.#listen(createTlsServer({ cert, key }), 'secureConnection', script);
  }

  /** Says its name, then what it hears. */
  static echo(name: string): Promise<StreamOrigin> {
    return StreamOrigin.start(echo(name));
  }

  static async #listen(
    server: Server,
    event: string,
    script: (peer: StreamPeer) => void,
  ): Promise<StreamOrigin> {
    const origin = new StreamOrigin(server);
    server.on(event, (socket: Socket) => {
      const peer = new StreamPeer(socket);
      origin.peers.push(peer);
      script(peer);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return origin;
  }

  get port(): number {
    const bound = this.#server.address();
    return typeof bound === 'object' && bound !== null ? bound.port : 0;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.peers) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export function echo(name: string): (peer: StreamPeer) => void {
  return ({ socket }) => {
    socket.write(name);
    socket.pipe(socket);
  };
}
