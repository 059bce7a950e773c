import { expect } from 'chai';
import { DataPlane } from '../../../src/engine/data-plane/data-plane.js';
import { configurationDelta } from '../../../src/engine/workers/configuration-delta.js';
import type { DataPlaneOptions } from '../../../src/engine/workers/protocol.js';
import type { WeightedBackend } from '../../../src/ir/http.js';
import { DEFAULT_LISTENER_SETTINGS, type Listener, type Server } from '../../../src/ir/listener.js';
import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../../../src/ir/proxy-configuration.js';
import type { Certificate } from '../../../src/ir/tls.js';
import type { Endpoint, Upstream } from '../../../src/ir/upstream.js';
import { createLogger } from '../../../src/telemetry/logger.js';
import {
  type ListenerCounts,
  TrafficCounters,
  type WorkerField,
} from '../../../src/telemetry/traffic-counters.js';
import { SecretBytes } from '../../../src/util/secret-bytes.js';
import type { IssuedCertificate } from '../certificates.js';
import { WIRES } from './http1-lab.js';
import type { Wire } from '../../../src/engine/wire/wire.js';

export const STREAM_OPTIONS: DataPlaneOptions = {
  wire: 'auto',
  logLevel: 'silent',
  reusePort: false,
  caches: {},
  negativeCaches: {},
  accessLog: { enabled: false, format: 'json', sampleRate: 1 },
  ticketKeys: '00'.repeat(48),
  sessionKey: '00'.repeat(32),
};

interface ListenerParts {
  readonly protocol: 'tcp' | 'tls' | 'udp';
  readonly port: number;
  readonly servers: readonly Server[];
}

export function streamListener({ protocol, port, servers }: ListenerParts): Listener {
  const transport = protocol === 'udp' ? 'udp' : 'tcp';
  const address = '127.0.0.1';
  return {
    key: `${transport}/${address}:${String(port)}`,
    address,
    port,
    transport,
    protocol,
    servers,
    settings: { ...DEFAULT_LISTENER_SETTINGS, readHeaderTimeoutMs: 300 },
  };
}

interface ServerParts {
  readonly hostname?: string;
  /** Key of the certificate that ends TLS here. */
  readonly certificate?: string;
}

export function streamServer(
  backends: readonly (string | Partial<WeightedBackend>)[],
  { hostname = '', certificate }: ServerParts = {},
): Server {
  return {
    hostname,
    listeners: ['Gateway/ns/gw/stream'],
    ...(certificate !== undefined && { tls: { certificates: [certificate] } }),
    application: {
      type: 'stream',
      backends: backends.map((backend) => ({
        weight: 1,
        filters: [],
        ...(typeof backend === 'string' ? { upstream: backend } : backend),
      })),
    },
  };
}

export function streamUpstream(
  key: string,
  endpoints: readonly (Endpoint | number)[],
  extra: Partial<Upstream> = {},
): Upstream {
  return {
    key,
    protocol: 'stream',
    endpoints: endpoints.map((one) => (typeof one === 'number' ? { address: '127.0.0.1', port: one } : one)),
    loadBalancing: 'rr',
    connectTimeoutMs: 1_000,
    ...extra,
  };
}

export function toCertificate(key: string, issued: IssuedCertificate): Certificate {
  return { key, chain: issued.certificate, privateKey: new SecretBytes(issued.privateKey) };
}

/** A whole data plane in this thread. */
export class StreamLab {
  readonly dataPlane: DataPlane;
  readonly counters = new TrafficCounters();
  readonly #rows = new Map<string, number>();
  #serving: ProxyConfiguration = EMPTY_CONFIGURATION;
  #revision = 0;

  constructor(wire: Wire) {
    this.dataPlane = new DataPlane({
      wire,
      options: STREAM_OPTIONS,
      counters: this.counters,
      logger: createLogger('silent'),
    });
  }

  /** Replaces the sections that are given; every listener must be served then. */
  async serve(sections: Partial<ProxyConfiguration>): Promise<void> {
    const next = { ...this.#serving, ...sections };
    const rows: [string, number][] = [];
    for (const { key } of next.listeners) {
      if (this.#rows.has(key)) continue;
      rows.push([key, this.#rows.size]);
      this.#rows.set(key, this.#rows.size);
    }
    this.dataPlane.prepare(++this.#revision, configurationDelta(this.#serving, next), rows);
    this.#serving = next;
    for (const [key, outcome] of await this.dataPlane.commit(this.#revision)) {
      expect(outcome, key).to.deep.equal({ state: 'serving' });
    }
  }

  counts({ key }: Listener): ListenerCounts {
    return this.counters.readListener(this.#rows.get(key) ?? 0);
  }

  read(field: WorkerField): number {
    return this.counters.read(field);
  }
}

/** Declares the suite once for each wire; `cleanUp` runs behind each test, the last one given first. */
export function streamSuite(
  title: string,
  define: (suite: { readonly lab: () => StreamLab; readonly cleanUp: (task: () => unknown) => void }) => void,
): void {
  for (const { name, make } of WIRES) {
    describe(`${title} over the ${name} wire`, () => {
      let lab: StreamLab;
      const tasks: (() => unknown)[] = [];
      const faults: unknown[] = [];

      beforeEach(() => {
        // Buffers that are released twice or written to afterwards end the test.
        process.env['TRICKSTER_DEBUG_BUFFERS'] = '1';
        lab = new StreamLab(make((fault) => faults.push(fault)));
        delete process.env['TRICKSTER_DEBUG_BUFFERS'];
      });

      afterEach(async () => {
        for (const task of tasks.splice(0).reverse()) await task();
        await lab.dataPlane.close();
        expect(faults.splice(0)).to.deep.equal([]);
      });

      define({ lab: () => lab, cleanUp: (task) => tasks.push(task) });
    });
  }
}
