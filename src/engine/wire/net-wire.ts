import { createServer, connect, type Server } from 'node:net';
import { ClientSessions } from './tls/client-sessions.js';
import { NetConnection } from './net-connection.js';
import { codeOf, ListenError } from './wire-faults.js';
import type {
  Acceptor,
  Connection,
  ConnectionHandler,
  ConnectOptions,
  FaultReport,
  ListenOptions,
  Wire,
} from './wire.js';

/** The wire on documented Node API only: slower than `handle`, but nothing that Node may take away. */
export class NetWire implements Wire {
  readonly name = 'net';
  readonly #report: FaultReport;
  readonly #sessions = new ClientSessions();

  constructor(report: FaultReport) {
    this.#report = report;
  }

  listen(options: ListenOptions): Promise<Acceptor> {
    const { address, port, backlog, reusePort, accept } = options;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    server.on('connection', (socket) => {
      const connection = NetConnection.accepted(socket, this.#report);
      try {
        accept(connection);
      } catch (error) {
        this.#report({ code: 'ERR_HANDLER_FAULT', error });
        connection.destroy();
      }
    });
    return new Promise((resolve, reject) => {
      const refuse = (error: Error): void => {
        reject(new ListenError(codeOf(error), error.message, { cause: error }));
      };
      server.once('error', refuse);
      server.listen({ host: address, port, backlog, reusePort, exclusive: true }, () => {
        server.off('error', refuse);
        server.on('error', (error) => {
          this.#report({ code: codeOf(error), error });
        });
        resolve(new NetAcceptor(server));
      });
    });
  }

  connect(options: ConnectOptions, handler: ConnectionHandler): Connection {
    return NetConnection.connecting(
      (onread) =>
        connect({ host: options.address, port: options.port, allowHalfOpen: true, noDelay: true, onread }),
      options,
      { handler, report: this.#report, sessions: this.#sessions },
    );
  }
}

class NetAcceptor implements Acceptor {
  readonly address: string;
  readonly port: number;
  readonly #server: Server;

  constructor(server: Server) {
    const bound = server.address();
    this.#server = server;
    this.address = typeof bound === 'object' ? (bound?.address ?? '') : '';
    this.port = typeof bound === 'object' ? (bound?.port ?? 0) : 0;
  }

  close(): Promise<void> {
    // The callback of Server.close waits for accepted connections, which live on; the socket itself closes now.
    this.#server.close();
    return Promise.resolve();
  }
}
