import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { COUNTERS_LENGTH } from '../../../src/telemetry/engine-counters.js';
import type { DownstreamContext } from '../../../src/engine/exchange/downstream.js';
import type { ExchangeRunner } from '../../../src/engine/exchange/exchange-runner.js';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import { Http2Connector, type Http2ConnectorOptions } from '../../../src/engine/http2/connector.js';
import {
  Http2DownstreamConnection,
  type Http2DownstreamOptions,
} from '../../../src/engine/http2/downstream-connection.js';
import { NetWire } from '../../../src/engine/wire/net-wire.js';
import type {
  Acceptor,
  ClientTlsOptions,
  Connection,
  ServerTlsOptions,
  Wire,
} from '../../../src/engine/wire/wire.js';
import { NO_HANDLER } from '../../../src/engine/wire/wire-faults.js';
import { contextOf } from './exchange-fixture.js';

type Settings = Partial<Omit<Http2DownstreamOptions, 'runner' | 'wheel'>>;

/** HTTP/2 servers and connectors of the engine on loopback, closed together. */
export class Http2Bench {
  readonly faults: unknown[] = [];
  readonly wire: Wire;
  readonly wheel = new TimerWheel(5);
  readonly counters = new Float64Array(COUNTERS_LENGTH);
  readonly connections = new Set<Http2DownstreamConnection>();
  /** Connections that have closed. */
  closed = 0;
  readonly #acceptors: Acceptor[] = [];
  readonly #connectors: Http2Connector[] = [];
  readonly #sockets: Socket[] = [];

  constructor(wire?: Wire) {
    this.wire =
      wire ??
      new NetWire((fault) => {
        this.faults.push(fault.error);
      });
    this.wheel.start();
  }

  /** @returns the port. */
  async serve(
    runner: ExchangeRunner,
    settings: Settings = {},
    context: Partial<DownstreamContext> = {},
    tls?: ServerTlsOptions,
  ): Promise<number> {
    const options: Http2DownstreamOptions = {
      runner,
      wheel: this.wheel,
      maxConcurrentStreams: 100,
      idleMs: 75_000,
      writeMs: 60_000,
      quietMs: 60_000,
      ...settings,
    };
    const accept = (wire: Connection): void => {
      const start = (): void => {
        const connection = new Http2DownstreamConnection(
          wire,
          contextOf({ secure: tls !== undefined, ...context }),
          options,
          () => {
            this.closed++;
            this.connections.delete(connection);
          },
        );
        this.connections.add(connection);
        connection.start(Buffer.alloc(0));
      };
      if (!tls) start();
      else {
        wire.handler = { ...NO_HANDLER, onSecure: start };
        wire.secure(tls, Buffer.alloc(0));
      }
    };
    const acceptor = await this.wire.listen({
      address: '127.0.0.1',
      port: 0,
      backlog: 512,
      reusePort: false,
      accept,
    });
    this.#acceptors.push(acceptor);
    return acceptor.port;
  }

  connector(
    port: number,
    options: Partial<Http2ConnectorOptions> = {},
    tls?: ClientTlsOptions,
  ): Http2Connector {
    const connector = new Http2Connector({
      wire: this.wire,
      endpoint: { address: '127.0.0.1', port },
      connectTimeoutMs: 2000,
      wheel: this.wheel,
      counters: this.counters,
      ...(tls ? { tls } : {}),
      ...options,
    });
    this.#connectors.push(connector);
    return connector;
  }

  /** A plain socket to a port, to speak frames by hand. */
  socket(port: number, secure = false): Socket {
    const socket = secure
      ? connectTls({ host: '127.0.0.1', port, ALPNProtocols: ['h2'], rejectUnauthorized: false })
      : connect(port, '127.0.0.1');
    this.#sockets.push(socket);
    return socket;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const connector of this.#connectors) connector.close();
    for (const connection of this.connections) connection.destroy();
    await Promise.all(this.#acceptors.map((acceptor) => acceptor.close()));
    this.wheel.stop();
    if (this.faults.length > 0) throw new AggregateError(this.faults, 'faults of handlers');
  }
}

export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return address.port;
}
