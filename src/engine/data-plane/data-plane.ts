/**
 * The engine of one thread: everything between its sockets and its upstreams.
 *
 * In: revisions of the configuration, as changes. Out: traffic served, outcomes of listeners, counts in shared memory.
 * It must not know Kubernetes, other workers or where revisions come from.
 */
import { getHeapStatistics } from 'node:v8';

import type { ListenerOutcome } from '../../ir/proxy-engine.js';
import type { Certificate } from '../../ir/tls.js';
import type { Upstream } from '../../ir/upstream.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TrafficCounters } from '../../telemetry/traffic-counters.js';
import { ObjectCache } from '../cache/object-cache.js';
import { MemoryStore } from '../cache/memory-store.js';
import { DeadlinePool } from '../exchange/deadlines.js';
import { HttpExchangeRunner } from '../exchange/http-exchange-runner.js';
import type { ResponseCache } from '../exchange/response-cache.js';
import type { RuleEntry } from '../exchange/route-entry.js';
import { TimerWheel } from '../exchange/timer-wheel.js';
import { compileExternalAuth } from '../filters/external-auth/external-auth.js';
import { MirrorClient } from '../filters/mirror-client.js';
import { SessionTokens } from '../filters/session-token.js';
import { Http1Connector } from '../http1/http1-connector.js';
import { Http1UpstreamWorker } from '../http1/http1-upstream-worker.js';
import { Http2Connector } from '../http2/connector.js';
import {
  ConnectionAcceptor,
  type ConnectionCounts,
  type ListenerRuntime,
} from '../listeners/connection-acceptor.js';
import type { StreamCounts } from '../l4/relay-services.js';
import { ListenerManager } from '../listeners/listener-manager.js';
import { RoutingCompiler } from '../routing/routing-compiler.js';
import { RoutingTables } from '../routing/routing-tables.js';
import { TableRouter } from '../routing/table-router.js';
import type { ConnectorFactory } from '../upstream/balanced-upstream.js';
import { UpstreamRegistry } from '../upstream/upstream-registry.js';
import { HandshakeGate } from '../wire/tls/handshake-gate.js';
import { SecureContexts } from '../wire/tls/secure-contexts.js';
import { BufferPool, debugBuffers } from '../wire/buffer-pool.js';
import type { Wire } from '../wire/wire.js';
import { AccessLogWriter } from '../access-log/access-log-writer.js';
import type { ConfigurationDelta } from '../workers/configuration-delta.js';
import type { DataPlaneOptions } from '../workers/protocol.js';
import { ConfigurationTables } from './configuration-tables.js';
import { ListenerRuntimes } from './listener-runtimes.js';
import { ProtocolServer } from './protocol-server.js';
import { RuleCompiler, type RuleServices } from './rule-compiler.js';
import { StreamPlane } from './stream-plane.js';
import { TrafficObserver } from './traffic-observer.js';

/** How often a draining worker looks whether everybody has left, in ms. */
const DRAIN_CHECK_MS = 20;
/** How often the levels of caches and heap are published, in ms. */
const LEVELS_MS = 1_000;

export interface DataPlaneInit {
  readonly wire: Wire;
  readonly options: DataPlaneOptions;
  readonly counters: TrafficCounters;
  readonly logger: Logger;
}

interface Revision {
  readonly number: number;
  readonly tables: ConfigurationTables;
  readonly routing: RoutingTables<RuleEntry>;
  readonly runtimes: ReadonlyMap<string, ListenerRuntime>;
}

const NOTHING: Revision = {
  number: 0,
  tables: new ConfigurationTables(undefined, {}),
  routing: new RoutingTables(new Map()),
  runtimes: new Map(),
};

export class DataPlane {
  readonly #init: DataPlaneInit;
  readonly #wheel = new TimerWheel();
  readonly #router = new TableRouter(NOTHING.routing);
  readonly #observer: TrafficObserver;
  readonly #contexts = new SecureContexts();
  readonly #stores: ReadonlyMap<string, MemoryStore>;
  readonly #upstreams: UpstreamRegistry;
  readonly #routing: RoutingCompiler<RuleEntry>;
  readonly #runtimes: ListenerRuntimes;
  readonly #protocols: ProtocolServer;
  readonly #streams: StreamPlane;
  readonly #listeners: ListenerManager;
  readonly #levels: NodeJS.Timeout;
  #serving = NOTHING;
  #prepared: Revision | undefined;

  constructor(init: DataPlaneInit) {
    this.#init = init;
    const { wire, options, counters, logger } = init;
    this.#observer = new TrafficObserver(
      counters,
      options.accessLog.enabled ? new AccessLogWriter(options.accessLog) : undefined,
    );
    this.#stores = new Map(
      Object.entries(options.caches).map(([name, { maxSizeBytes, maxObjectSizeBytes }]) => [
        name,
        new MemoryStore({ maxSizeBytes, maxObjectBytes: maxObjectSizeBytes }),
      ]),
    );
    const buffers = new BufferPool({ debug: debugBuffers(process.env) });
    const runner = this.#createRunner();
    this.#upstreams = new UpstreamRegistry(this.#contexts, this.#connectors(buffers));
    const rules = new RuleCompiler(this.#ruleServices());
    this.#routing = new RoutingCompiler((rule, route) => rules.compile(rule, route));
    this.#runtimes = new ListenerRuntimes({
      contexts: this.#contexts,
      ticketKeys: Buffer.from(options.ticketKeys, 'hex'),
      onFault: (server, problem) => {
        logger.warn({ server, problem }, 'certificates cannot be used');
      },
    });
    const counts = connectionCounts(counters, this.#observer);
    this.#protocols = new ProtocolServer(
      { runner, wheel: this.#wheel, counters: counters.cells, buffers },
      counts,
    );
    this.#streams = this.#createStreams(buffers, counts);
    const acceptor = new ConnectionAcceptor({
      runtime: (listener) => this.#serving.runtimes.get(listener),
      servers: this.#protocols,
      streams: this.#streams,
      counts,
      handshakes: new HandshakeGate(),
      wheel: this.#wheel,
    });
    this.#listeners = new ListenerManager({
      wire,
      reusePort: options.reusePort,
      accept: (listener, connection) => {
        acceptor.accept(listener, connection);
      },
      openDatagrams: (listener) => this.#streams.openDatagrams(listener),
    });
    this.#wheel.start();
    this.#levels = setInterval(() => {
      this.#publishLevels();
    }, LEVELS_MS).unref();
  }

  /** Compiles a revision; what is served stays. Throws when it cannot be served. */
  prepare(number: number, delta: ConfigurationDelta, rows: readonly (readonly [string, number])[]): void {
    for (const [listener, row] of rows) this.#observer.addRow(listener, row);
    const before = this.#serving.tables;
    const tables = new ConfigurationTables(before, delta);
    if (tables.upstreams !== before.upstreams) this.#addUpstreams(before, tables);
    this.#prepared = {
      number,
      tables,
      routing: this.#compileRouting(tables),
      runtimes:
        tables.listeners === before.listeners && tables.certificates === before.certificates
          ? this.#serving.runtimes
          : this.#runtimes.compile(tables.listeners, tables.certificates),
    };
  }

  /** Rules hold their upstreams, so new ones must be there; those that exist keep their state until the commit. */
  #addUpstreams(before: ConfigurationTables, tables: ConfigurationTables): void {
    const added = [...tables.upstreams.values()].filter(({ key }) => !before.upstreams.has(key));
    this.#applyUpstreams(
      [...before.upstreams.values(), ...added],
      new Map([...tables.certificates, ...before.certificates]),
    );
  }

  /** Serves the prepared revision: requests that begin from now on see it, and only it. */
  async commit(number: number): Promise<readonly (readonly [string, ListenerOutcome])[]> {
    const prepared = this.#prepared;
    if (prepared?.number !== number) throw new Error(`revision ${String(number)} was not prepared`);
    this.#prepared = undefined;
    const { tables: before } = this.#serving;
    this.#serving = prepared;
    const { tables, routing } = prepared;
    if (tables.upstreams !== before.upstreams || tables.certificates !== before.certificates) {
      this.#applyUpstreams([...tables.upstreams.values()], tables.certificates);
    }
    this.#router.swap(routing);
    return this.#listeners.update(tables.listeners.values());
  }

  discard(): void {
    this.#prepared = undefined;
    const { tables } = this.#serving;
    this.#applyUpstreams([...tables.upstreams.values()], tables.certificates);
  }

  #applyUpstreams(upstreams: readonly Upstream[], certificates: ReadonlyMap<string, Certificate>): void {
    this.#upstreams.apply(
      upstreams.filter(({ protocol }) => protocol !== 'stream'),
      certificates,
    );
    this.#streams.apply(upstreams, certificates);
  }

  /** Stops accepting; resolves when every connection has ended, or after `timeoutMs` when they were ended. */
  async drain(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    this.#protocols.drain();
    await this.#listeners.close();
    while (this.#protocols.size + this.#streams.size > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
    await this.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#levels);
    await this.#listeners.close();
    this.#protocols.close();
    this.#streams.close();
    this.#upstreams.close();
    this.#wheel.stop();
  }

  #createStreams(buffers: BufferPool, counts: StreamCounts): StreamPlane {
    const { wire, options, counters, logger } = this.#init;
    return new StreamPlane({
      wire,
      wheel: this.#wheel,
      buffers,
      counters: counters.cells,
      counts,
      contexts: this.#contexts,
      destination: (listener) => this.#serving.runtimes.get(listener)?.stream,
      reusePort: options.reusePort,
      onFault: (listener, error) => {
        logger.warn({ listener, err: error }, 'UDP socket failed');
      },
    });
  }

  #createRunner(): HttpExchangeRunner {
    const { counters } = this.#init;
    const services = {
      router: this.#router,
      // The cache fetches in the background through the runner, which asks the cache: one of them has to be later.
      cache: undefined as ResponseCache | undefined,
      observer: this.#observer,
      counters: counters.cells,
      deadlines: new DeadlinePool(this.#wheel),
    };
    const runner = new HttpExchangeRunner(services);
    services.cache = this.#createCache(runner);
    return runner;
  }

  #createCache(runner: HttpExchangeRunner): ObjectCache {
    const { negativeCaches } = this.#init.options;
    return new ObjectCache({
      stores: this.#stores,
      negativeCaches: new Map(
        Object.entries(negativeCaches).map(([name, statuses]) => [
          name,
          new Map(Object.entries(statuses).map(([status, ms]) => [Number(status), ms])),
        ]),
      ),
      heuristicFraction: 0,
      honorsClients: true,
      timers: this.#wheel,
      background: runner,
    });
  }

  #connectors(buffers: BufferPool): ConnectorFactory {
    const { wire, counters } = this.#init;
    const wheel = this.#wheel;
    const worker = new Http1UpstreamWorker({ wire, wheel, counters: counters.cells, buffers });
    return ({ protocol, connectTimeoutMs }, endpoint, tls) => {
      const options = { endpoint, connectTimeoutMs, ...(tls && { tls }) };
      return protocol === 'h2c'
        ? new Http2Connector({ ...options, wire, wheel, counters: counters.cells })
        : new Http1Connector(worker, options);
    };
  }

  #ruleServices(): RuleServices {
    return {
      upstream: (key) => this.#upstreams.get(key),
      policy: (key) => this.#compiling.policies.get(key),
      mirror: new MirrorClient(this.#init.counters),
      authorize: (filter, upstream) => compileExternalAuth(filter, upstream, this.#wheel),
      sessions: new SessionTokens(Buffer.from(this.#init.options.sessionKey, 'hex')),
    };
  }

  /** The tables that rules are compiled against. */
  #compiling = NOTHING.tables;

  #compileRouting(tables: ConfigurationTables): RoutingTables<RuleEntry> {
    this.#compiling = tables;
    return this.#routing.compile({
      listeners: [...tables.listeners.values()],
      virtualHosts: [...tables.virtualHosts.values()],
      routes: [...tables.routes.values()],
    });
  }

  #publishLevels(): void {
    const { counters } = this.#init;
    const statistics = [...this.#stores.values()].map((store) => store.statistics);
    counters.set('cacheObjects', sum(statistics.map(({ objects }) => objects)));
    counters.set('cacheBytes', sum(statistics.map(({ bytes }) => bytes)));
    const heap = getHeapStatistics();
    counters.set('heapUsedBytes', heap.used_heap_size);
    counters.set('heapBytes', heap.total_heap_size);
    counters.set('cacheEvictions', sum(statistics.map(({ evictions }) => evictions)));
  }
}

function connectionCounts(
  counters: TrafficCounters,
  observer: TrafficObserver,
): ConnectionCounts & StreamCounts {
  return {
    bytes: (listener: string) => counters.byteCells(observer.rowOf(listener)),
    active: (listener: string) => counters.readListener(observer.rowOf(listener)).connectionsActive,
    opened: (listener: string) => {
      const row = observer.rowOf(listener);
      counters.countConnection(row, 'connectionsAccepted', 1);
      counters.countConnection(row, 'connectionsActive', 1);
    },
    closed: (listener: string) => {
      counters.countConnection(observer.rowOf(listener), 'connectionsActive', -1);
    },
    refused: (listener: string) => {
      counters.countConnection(observer.rowOf(listener), 'connectionsRefused', 1);
    },
    handshakeFailed: (listener: string) => {
      counters.countConnection(observer.rowOf(listener), 'handshakesFailed', 1);
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
