import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { loadBindings, type SocketName, type TcpHandle } from './handle-bindings.js';
import { newWriteRequest } from './handle-callbacks.js';
import { HandleConnection, type HandleContext } from './handle-connection.js';
import { HandleListener } from './handle-listener.js';
import { debugBuffers } from './buffer-pool.js';
import { ClientSessions } from './tls/client-sessions.js';
import { WriteBatch } from './write-batch.js';
import { toSystemError, toWireError } from './wire-faults.js';
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
      batch: new WriteBatch({ debug: debugBuffers(process.env) }),
      freeWrite: newWriteRequest(bindings),
    };
  }

  listen(options: ListenOptions): Promise<Acceptor> {
    return HandleListener.open(this.#context.bindings, options, (local, status, client) => {
      this.#accept(options, local, status, client);
    });
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
