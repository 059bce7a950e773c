import { DEFAULT_LISTENER_SETTINGS, type ListenerSettings } from '../../../src/ir/listener.js';
import type { Upstream } from '../../../src/ir/upstream.js';
import {
  ConnectionContext,
  TrustedProxies,
  type ForwardedForm,
} from '../../../src/engine/exchange/connection-context.js';
import { COUNTERS_LENGTH } from '../../../src/telemetry/engine-counters.js';
import type {
  ExchangeObserver,
  ExchangeRecord,
  Termination,
} from '../../../src/engine/exchange/exchange-record.js';
import type { ExchangeServices } from '../../../src/engine/exchange/exchange-services.js';
import { HttpExchangeRunner } from '../../../src/engine/exchange/http-exchange-runner.js';
import type { ResponseCache } from '../../../src/engine/exchange/response-cache.js';
import {
  NO_ROUTE,
  type BackendEntry,
  type RouteEntry,
  type Router,
  type RuleEntry,
} from '../../../src/engine/exchange/route-entry.js';
import { DeadlinePool } from '../../../src/engine/exchange/deadlines.js';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import { BufferPool } from '../../../src/engine/wire/buffer-pool.js';
import { Http1Connector } from '../../../src/engine/http1/http1-connector.js';
import { Http1Server, type Http1ServerOptions } from '../../../src/engine/http1/http1-server.js';
import {
  DEFAULT_DOWNSTREAM_TIMEOUTS,
  type DownstreamTimeouts,
} from '../../../src/engine/http1/http1-worker.js';
import { Http1UpstreamWorker } from '../../../src/engine/http1/http1-upstream-worker.js';
import { UpstreamRegistry } from '../../../src/engine/upstream/upstream-registry.js';
import { WeightedBackends } from '../../../src/engine/upstream/weighted-backends.js';
import { HandleWire } from '../../../src/engine/wire/handle-wire.js';
import { NetWire } from '../../../src/engine/wire/net-wire.js';
import { SecureContexts } from '../../../src/engine/wire/tls/secure-contexts.js';
import type { Acceptor, Wire } from '../../../src/engine/wire/wire.js';
import { RawClient } from './raw-client.js';

/** Both transports; the engine must not notice which it has. */
export const WIRES: readonly {
  readonly name: string;
  readonly make: (report: (fault: unknown) => void) => Wire;
}[] = [
  { name: 'net', make: (report) => new NetWire(report) },
  { name: 'handle', make: (report) => new HandleWire(report) },
];

/** What of a record outlives it. */
export interface KeptRecord {
  readonly path: string;
  readonly status: number;
  readonly termination: Termination;
  readonly detail: string;
  readonly attempts: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

export interface LabOptions {
  readonly wire: Wire;
  readonly settings?: Partial<ListenerSettings>;
  readonly timeouts?: Partial<DownstreamTimeouts>;
  readonly forwarded?: ForwardedForm;
  readonly http2?: Http1ServerOptions['http2'];
  readonly cache?: ResponseCache;
}

/** A worker's HTTP/1.1 engine with a router that knows prefixes only. */
export class Http1Lab {
  readonly records: KeptRecord[] = [];
  readonly refused: { status: number; problem: string }[] = [];
  readonly counters = new Float64Array(COUNTERS_LENGTH);
  readonly wheel = new TimerWheel(5);
  readonly server: Http1Server;
  readonly registry: UpstreamRegistry;
  readonly runner: HttpExchangeRunner;
  readonly #rules: { prefix: string; entry: RouteEntry }[] = [];
  readonly #upstreams: Upstream[] = [];
  #acceptor: Acceptor | undefined;

  private constructor(options: LabOptions) {
    const { wire, wheel, counters } = { wire: options.wire, wheel: this.wheel, counters: this.counters };
    const buffers = new BufferPool({ debug: true });
    const services: ExchangeServices = {
      router: this.#router(),
      cache: options.cache,
      observer: this.#observer(),
      counters,
      deadlines: new DeadlinePool(wheel),
    };
    this.runner = new HttpExchangeRunner(services);
    this.server = new Http1Server({
      runner: this.runner,
      wheel,
      counters,
      buffers,
      timeouts: { ...DEFAULT_DOWNSTREAM_TIMEOUTS, ...options.timeouts },
      ...(options.http2 && { http2: options.http2 }),
    });
    const upstreamWorker = new Http1UpstreamWorker({ wire, wheel, counters, buffers });
    this.registry = new UpstreamRegistry(
      new SecureContexts(),
      (upstream, endpoint, tls) =>
        new Http1Connector(upstreamWorker, {
          endpoint,
          connectTimeoutMs: upstream.connectTimeoutMs,
          ...(tls && { tls }),
        }),
    );
  }

  static async start(options: LabOptions): Promise<Http1Lab> {
    const lab = new Http1Lab(options);
    lab.wheel.start();
    const settings = { ...DEFAULT_LISTENER_SETTINGS, ...options.settings };
    const trusted = new TrustedProxies(settings.trustedProxies);
    lab.#acceptor = await options.wire.listen({
      address: '127.0.0.1',
      port: 0,
      backlog: 128,
      reusePort: false,
      accept: (connection) => {
        const context = new ConnectionContext({
          listener: 'tcp/127.0.0.1:80',
          settings,
          secure: false,
          sniServer: undefined,
          remoteAddress: connection.remoteAddress,
          remotePort: connection.remotePort,
          localAddress: connection.localAddress,
          localPort: connection.localPort,
          trusted: trusted.has(connection.remoteAddress),
          forwarded: options.forwarded ?? 'x',
        });
        lab.server.serve(connection, context);
      },
    });
    return lab;
  }

  get port(): number {
    return this.#acceptor?.port ?? 0;
  }

  client(): Promise<RawClient> {
    return RawClient.open(this.port);
  }

  /** Requests whose path begins with `prefix` go to these ports. */
  route(prefix: string, ports: readonly number[], rule: Partial<RuleEntry> = {}): void {
    const key = `Service/test/${prefix}/80`;
    this.upstream({
      key,
      protocol: 'http',
      endpoints: ports.map((port) => ({ address: '127.0.0.1', port })),
      loadBalancing: 'rr',
      connectTimeoutMs: 2000,
    });
    this.rule(prefix, { ...rule, backends: new WeightedBackends([this.backend(key)]) });
  }

  backend(key: string, extra: Partial<BackendEntry> = {}): BackendEntry {
    return {
      weight: 1,
      upstream: this.registry.get(key),
      refusal: undefined,
      requestSteps: [],
      responseSteps: [],
      policy: undefined,
      ...extra,
    };
  }

  upstream(upstream: Upstream): void {
    const at = this.#upstreams.findIndex(({ key }) => key === upstream.key);
    if (at >= 0) this.#upstreams[at] = upstream;
    else this.#upstreams.push(upstream);
    this.registry.apply(this.#upstreams, new Map());
  }

  rule(prefix: string, rule: Partial<RuleEntry>): void {
    this.#rules.push({
      prefix,
      entry: {
        rule: {
          route: 'HTTPRoute/test/route@Gateway/test/gateway',
          kind: 'HTTPRoute',
          index: this.#rules.length,
          name: undefined,
          refusal: undefined,
          requestSteps: [],
          responseSteps: [],
          backends: new WeightedBackends([]),
          requestMs: 0,
          backendRequestMs: 0,
          awaitHeadMs: 0,
          retry: undefined,
          affinity: undefined,
          ...rule,
        },
        matchedPrefix: prefix,
      },
    });
  }

  async stop(): Promise<void> {
    await this.#acceptor?.close();
    this.server.close();
    this.registry.close();
    this.wheel.stop();
  }

  #router(): Router {
    return {
      route: (_context, head) =>
        this.#rules.findLast(({ prefix }) => head.path.startsWith(prefix))?.entry ?? NO_ROUTE,
    };
  }

  #observer(): ExchangeObserver {
    return {
      onExchangeEnd: (record: ExchangeRecord) => {
        const {
          originalPath: path,
          status,
          termination,
          detail,
          attempts,
          requestBytes,
          responseBytes,
        } = record;
        this.records.push({ path, status, termination, detail, attempts, requestBytes, responseBytes });
      },
      onRequestRefused: (_context, status, problem) => {
        this.refused.push({ status, problem });
      },
    };
  }
}
