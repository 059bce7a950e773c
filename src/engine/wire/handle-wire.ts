import { lookup } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { loadBindings, type SocketName, type TcpHandle } from './handle-bindings.js';
import { newWriteRequest } from './handle-callbacks.js';
import { HandleConnection, type HandleContext } from './handle-connection.js';
import { ClientSessions } from './tls/client-sessions.js';
import { ListenError, toSystemError, toWireError } from './wire-faults.js';
import type {
  Acceptor,
  Connection,
  ConnectionHandler,
  ConnectOptions,
  FaultReport,
  ListenOptions,
  Wire,
} from './wire.js';

/** The wire on libuv's handles: no stream objects, no allocation for a read or a write that the kernel takes at once. */
export class HandleWire implements Wire {
  readonly name = 'handle';
  readonly #context: HandleContext;

  /** Throws when this Node has no such handles. */
  constructor(report: FaultReport) {
    const bindings = loadBindings();
    this.#context = {
      bindings,
      report,
      sessions: new ClientSessions(),
      freeWrite: newWriteRequest(bindings),
    };
  }

  listen(options: ListenOptions): Promise<Acceptor> {
    const { bindings } = this.#context;
    const { address, port, backlog, reusePort } = options;
    const handle = new bindings.TCP(bindings.serverType);
    const flags = reusePort ? bindings.reusePortFlag : 0;
    const name: SocketName = {};
    const status =
      (isIPv6(address) ? handle.bind6(address, port, flags) : handle.bind(address, port, flags)) ||
      // Accepted sockets inherit it from the one that listens: no call for each.
      handle.setNoDelay(true) ||
      handle.listen(backlog) ||
      handle.getsockname(name);
    if (status !== 0) {
      const { code, message } = toSystemError(status);
      return new Promise((_resolve, reject) => {
        handle.close(() => {
          reject(new ListenError(code, `listen ${address} port ${port}: ${message}`));
        });
      });
    }
    const local = UNSPECIFIED.has(name.address) ? undefined : name;
    handle.onconnection = (accepted, client) => {
      this.#accept(options, local, accepted, client);
    };
    return Promise.resolve(new HandleAcceptor(handle, name));
  }

  connect(options: ConnectOptions, handler: ConnectionHandler): Connection {
    const connection = HandleConnection.connecting(this.#context, options, handler);
    if (isIP(options.address) !== 0) {
      connection.open(options.address, options.port);
    } else {
      lookup(options.address, (error, address) => {
        if (error === null) connection.open(address, options.port);
        else connection.fail(toWireError(error));
      });
    }
    return connection;
  }

  #accept(
    options: ListenOptions,
    local: SocketName | undefined,
    status: number,
    client: TcpHandle | undefined,
  ): void {
    if (status !== 0 || client === undefined) {
      const { code, message } = toSystemError(status);
      this.#context.report({ code, error: new Error(`accept: ${message}`) });
      return;
    }
    const connection = HandleConnection.accepted(this.#context, client, local);
    try {
      options.accept(connection);
    } catch (error) {
      this.#context.report({ code: 'ERR_HANDLER_FAULT', error });
      connection.destroy();
    }
  }
}

/** Each connection of a socket that is bound to one of these has its own local address. */
const UNSPECIFIED: ReadonlySet<string | undefined> = new Set(['0.0.0.0', '::', '::ffff:0.0.0.0']);

class HandleAcceptor implements Acceptor {
  readonly address: string;
  readonly port: number;
  readonly #handle: TcpHandle;
  #closing: Promise<void> | undefined;

  constructor(handle: TcpHandle, name: SocketName) {
    this.#handle = handle;
    this.address = name.address ?? '';
    this.port = name.port ?? 0;
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#handle.close(() => {
        resolve();
      });
    });
    return this.#closing;
  }
}
