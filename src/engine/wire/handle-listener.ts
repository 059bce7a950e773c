import { isIPv6 } from 'node:net';
import type { HandleBindings, SocketName, TcpHandle } from './handle-bindings.js';
import { ListenError, toSystemError } from './wire-faults.js';
import type { Acceptor, ListenOptions } from './wire.js';

/**
 * Sockets that listen to one port. libuv accepts a single connection from a socket in each turn of the loop, however
 * many wait: with several a burst takes fewer turns. The kernel spreads connections over them.
 */
const SOCKETS = 4;

type Where = Pick<ListenOptions, 'address' | 'port'>;

/** `local` is where a connection was accepted, when all of them have the same. */
type OnAccept = (local: SocketName | undefined, status: number, client: TcpHandle | undefined) => void;

/** The sockets of one listener. */
export class HandleListener implements Acceptor {
  readonly address: string;
  readonly port: number;
  readonly #handles: readonly TcpHandle[];
  #closing: Promise<void> | undefined;

  private constructor(handles: readonly TcpHandle[], { address = '', port = 0 }: SocketName) {
    this.#handles = handles;
    this.address = address;
    this.port = port;
  }

  /** Rejects with a {@link ListenError}. */
  static async open(
    bindings: HandleBindings,
    options: ListenOptions,
    onAccept: OnAccept,
  ): Promise<HandleListener> {
    const handles: TcpHandle[] = [];
    const name: SocketName = {};
    let status = options.reusePort ? 0 : claim(bindings, options, name);
    for (let index = 0; status === 0 && index < SOCKETS; index++) {
      const handle = new bindings.TCP(bindings.serverType);
      handles.push(handle);
      const where = { ...options, port: name.port ?? options.port };
      // Accepted sockets inherit that they do not delay from the one that listens: no call for each.
      status =
        bind(handle, where, bindings.reusePortFlag) ||
        handle.setNoDelay(true) ||
        handle.listen(options.backlog) ||
        handle.getsockname(name);
    }
    if (status !== 0) {
      await Promise.all(handles.map(close));
      const { code, message } = toSystemError(status);
      throw new ListenError(code, `listen ${options.address} port ${options.port}: ${message}`);
    }
    const local = UNSPECIFIED.has(name.address) ? undefined : name;
    for (const handle of handles) {
      handle.onconnection = (accepted, client) => {
        onAccept(local, accepted, client);
      };
    }
    return new HandleListener(handles, name);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#handles.map(close)).then(() => undefined);
    return this.#closing;
  }
}

/** Each connection of a socket that is bound to one of these has its own local address. */
const UNSPECIFIED: ReadonlySet<string | undefined> = new Set(['0.0.0.0', '::', '::ffff:0.0.0.0']);

/**
 * 0 when nobody listens there, with what was bound in `name`. Asked of a socket of its own, because those that share
 * the port among themselves would join others that do.
 */
function claim(bindings: HandleBindings, where: Where, name: SocketName): number {
  const handle = new bindings.TCP(bindings.serverType);
  const status = bind(handle, where, 0) || handle.getsockname(name);
  void close(handle);
  return status;
}

function bind(handle: TcpHandle, { address, port }: Where, flags: number): number {
  return isIPv6(address) ? handle.bind6(address, port, flags) : handle.bind(address, port, flags);
}

function close(handle: TcpHandle): Promise<void> {
  return new Promise((resolve) => {
    handle.close(() => {
      resolve();
    });
  });
}
