import { expect } from 'chai';
import type { ProxyConfiguration } from '../../../src/ir/proxy-configuration.js';
import { DEFAULT_LISTENER_SETTINGS } from '../../../src/ir/listener.js';
import { SecretBytes } from '../../../src/util/secret-bytes.js';
import { WorkerPool } from '../../../src/engine/workers/worker-pool.js';
import { createLogger } from '../../../src/telemetry/logger.js';
import { PrometheusMetrics } from '../../../src/telemetry/metrics.js';
import { selfSigned } from '../../support/certificates.js';
import { simpleConfiguration } from '../../support/engine/simple-configuration.js';
import { freePorts } from '../../support/free-ports.js';
import { Dice } from '../../support/seeded-random.js';
import { PatternOrigin } from '../../support/stress/pattern-origin.js';
import { runStressClients } from '../../support/stress/stress-clients.js';

/** The short form; `STRESS_REQUESTS` and `STRESS_SEED` make it long and different. */
const requests = Number(process.env['STRESS_REQUESTS'] ?? '400');
const seed = Number(process.env['STRESS_SEED'] ?? '1');

describe('engine under stress', function () {
  this.timeout(30_000 + requests * 50);

  const before = process.env['TRICKSTER_DEBUG_BUFFERS'];
  let pool: WorkerPool | undefined;
  let origin: PatternOrigin | undefined;

  afterEach(async () => {
    if (before === undefined) delete process.env['TRICKSTER_DEBUG_BUFFERS'];
    else process.env['TRICKSTER_DEBUG_BUFFERS'] = before;
    await pool?.close();
    origin?.close();
  });

  for (const wire of ['handle', 'net'] as const) {
    for (const violence of [0, 10]) {
      it(`answers every client with its own bytes (${wire}, ${violence} % abandoned and cut)`, async () => {
        // Workers have the environment of the moment in which they start: released buffers are filled there.
        process.env['TRICKSTER_DEBUG_BUFFERS'] = '1';
        const faults: string[] = [];
        origin = await PatternOrigin.start(new Dice(seed + 1), (fault) => faults.push(fault));
        const [http = 0, https = 0] = await freePorts(2);
        pool = new WorkerPool({
          workers: 1,
          dataPlane: {
            wire,
            logLevel: 'error',
            reusePort: false,
            caches: { default: { maxSizeBytes: 200_000, maxObjectSizeBytes: 100_000 } },
            negativeCaches: {},
            accessLog: { enabled: false, format: 'json', sampleRate: 1 },
            ticketKeys: '00'.repeat(48),
            sessionKey: '00'.repeat(32),
          },
          logger: createLogger('silent'),
          metrics: new PrometheusMetrics(),
        });
        await pool.apply(configurationOf(http, https, origin.port));
        const outcome = await runStressClients({
          ports: { http, https },
          seed,
          lanes: 3,
          violence,
          cuts: violence,
          largest: 3_000_000,
          goesOn: (asked) => asked < requests,
        });
        expect([...faults, ...outcome.faults]).to.deep.equal([]);
        if (violence === 0) expect(outcome.complete).to.equal(outcome.asked);
        else expect(outcome.complete).to.be.within(1, outcome.asked - 1);
      });
    }
  }
});

/** A clear and a TLS socket; what is below `/c` goes through the cache. */
function configurationOf(http: number, https: number, origin: number): ProxyConfiguration {
  const plain = simpleConfiguration({ port: http, origins: [{ address: '127.0.0.1', port: origin }] });
  const settings = { ...DEFAULT_LISTENER_SETTINGS, maxRequestBodyBytes: -1 };
  const { certificate, privateKey } = selfSigned(['stress.test']);
  const secure = `tcp/127.0.0.1:${https}`;
  const [listener] = plain.listeners;
  const [route] = plain.routes;
  const [rule] = route?.rules ?? [];
  if (!listener || !route || !rule) throw new Error('the simple configuration has a listener with a rule');
  const hosts = [`${listener.key}|*|*`, `${secure}|*|*`] as const;
  return {
    ...plain,
    listeners: [
      { ...listener, settings },
      {
        ...listener,
        key: secure,
        port: https,
        protocol: 'tls',
        settings,
        servers: [
          {
            hostname: '',
            listeners: ['Gateway/ns/gw/https'],
            tls: { certificates: ['Secret/ns/stress'] },
            application: { type: 'http', virtualHosts: [hosts[1]] },
          },
        ],
      },
    ],
    virtualHosts: hosts.map((key) => ({ key, hostname: '', routes: [route.key] })),
    routes: [
      {
        ...route,
        rules: [
          {
            ...rule,
            matches: [{ path: { type: 'prefix', value: '/c' }, headers: [], queryParams: [] }],
            policy: 'cached',
          },
          { ...rule, index: 1 },
        ],
      },
    ],
    certificates: [{ key: 'Secret/ns/stress', chain: certificate, privateKey: new SecretBytes(privateKey) }],
    policies: [
      {
        key: 'cached',
        handler: 'proxycache',
        cacheName: 'default',
        keyHeaders: [],
        requestHeaders: [],
        responseHeaders: [],
        collapsedForwarding: 'progressive',
        resultHeader: 'expose',
      },
    ],
  };
}
