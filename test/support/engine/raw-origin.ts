import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What an origin does with one connection; `requests` counts the connection's complete request heads. */
export type OriginScript = (connection: OriginConnection) => void;

/** A connection as the origin sees it. */
export class OriginConnection {
  readonly socket: Socket;
  /** Number of the connection, from 1. */
  readonly index: number;
  received = '';
  requests = 0;
  /** The gateway has closed its direction, or the connection is gone. */
  closed = false;
  #onRequest: ((head: string, index: number) => void) | undefined;

  constructor(socket: Socket, index: number) {
    this.socket = socket;
    this.index = index;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('end', () => {
      this.closed = true;
    });
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
      this.#scan();
    });
  }

  /** Calls back for every request head; bodies stay in `received`. */
  onRequest(callback: (head: string, index: number) => void): void {
    this.#onRequest = callback;
    this.#scan();
  }

  send(text: string): void {
    this.socket.write(Buffer.from(text, 'latin1'));
  }

  #scan(): void {
    for (;;) {
      const match =
        /((?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH) \S+ HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*)\r\n/.exec(
          this.received.slice(this.#seen),
        );
      if (!match || !this.#onRequest) return;
      this.#seen += match.index + match[0].length;
      this.#onRequest(match[1]!, ++this.requests);
    }
  }

  #seen = 0;
}

/** A backend that does to the byte what its script says. */
export class RawOrigin {
  readonly connections: OriginConnection[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(script: OriginScript): Promise<RawOrigin> {
    const server = createServer({ allowHalfOpen: true });
    const origin = new RawOrigin(server);
    server.on('connection', (socket) => {
      const connection = new OriginConnection(socket, origin.connections.length + 1);
      origin.connections.push(connection);
      script(connection);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return origin;
  }

  /** Answers each request with the text that `answer` makes of its head. */
  static answering(
    answer: (head: string, index: number, connection: OriginConnection) => string,
  ): Promise<RawOrigin> {
    return RawOrigin.start((connection) => {
      connection.onRequest((head, index) => {
        connection.send(answer(head, index, connection));
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Everything that was received on all connections. */
  get received(): string {
    return this.connections.map(({ received }) => received).join('');
  }

  get requests(): number {
    return this.connections.reduce((sum, { requests }) => sum + requests, 0);
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** `HTTP/1.1 200 OK` with a sized body. */
export function ok(body: string, extra = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${String(body.length)}\r\n${extra}\r\n${body}`;
}
