import { once } from 'node:events';
import { Agent, createServer, get, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';

import { expect } from 'chai';

import type { DataPlaneOptions } from '../../../src/engine/workers/protocol.js';
import { WorkerHandle } from '../../../src/engine/workers/worker-handle.js';
import { WorkerPool } from '../../../src/engine/workers/worker-pool.js';
import { EMPTY_CONFIGURATION } from '../../../src/ir/proxy-configuration.js';
import { createLogger } from '../../../src/telemetry/logger.js';
import { PrometheusMetrics } from '../../../src/telemetry/metrics.js';
import { freePort } from '../../support/free-port.js';
import { keyOfPort, simpleConfiguration } from '../../support/engine/simple-configuration.js';

const OPTIONS: DataPlaneOptions = {
  wire: 'auto',
  logLevel: 'silent',
  reusePort: true,
  caches: { default: { maxSizeBytes: 1_000_000, maxObjectSizeBytes: 100_000 } },
  negativeCaches: {},
  accessLog: { enabled: false, format: 'json', sampleRate: 1 },
  ticketKeys: '00'.repeat(48),
  sessionKey: '00'.repeat(32),
};

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

function ask(port: number, { agent = false }: { agent?: Agent | false } = {}): Promise<Answer | Error> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('error', resolve);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers });
      });
    });
    request.on('error', resolve);
  });
}

async function untilServed(port: number): Promise<void> {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const answer = await ask(port);
    if (!(answer instanceof Error)) return;
    if (Date.now() > deadline) throw answer;
  }
}

describe('WorkerPool', function () {
  this.timeout(20_000);

  const metrics = new PrometheusMetrics();
  const handles: WorkerHandle[] = [];
  const origins: Server[] = [];
  let pool: WorkerPool;
  let ports: { address: string; port: number }[];

  const start = (workers: number): WorkerPool =>
    new WorkerPool({
      workers,
      dataPlane: OPTIONS,
      logger: createLogger('silent'),
      metrics,
      spawn: (start, onLost) => {
        const handle = new WorkerHandle(start, onLost);
        handles.push(handle);
        return handle;
      },
    });

  before(async () => {
    ports = [];
    for (const name of ['a', 'b']) {
      const origin = createServer((_request, response) => response.end(name)).listen(0, '127.0.0.1');
      await once(origin, 'listening');
      const address = origin.address();
      if (typeof address === 'object' && address !== null)
        ports.push({ address: '127.0.0.1', port: address.port });
      origins.push(origin);
    }
  });

  after(() => {
    for (const origin of origins) {
      origin.closeAllConnections();
      origin.close();
    }
  });

  beforeEach(() => {
    handles.length = 0;
  });

  afterEach(() => pool.close());

  it('serves once apply has resolved', async () => {
    pool = start(2);
    const port = await freePort();
    const result = await pool.apply(simpleConfiguration({ port, origins: ports.slice(0, 1) }));
    expect(result.revision).to.equal(1);
    expect(result.listeners.get(keyOfPort(port))).to.deep.equal({ state: 'serving' });
    const answer = await ask(port);
    expect(answer).to.include({ status: 200, body: 'a' });
  });

  it('reports a port that is taken, serves the others, and opens it when it is free', async () => {
    pool = start(1);
    const [taken, free] = [await freePort(), await freePort()];
    const holder = createTcpServer().listen(taken, '127.0.0.1');
    await once(holder, 'listening');
    const one = simpleConfiguration({ port: taken, origins: ports.slice(0, 1) });
    const other = simpleConfiguration({ port: free, origins: ports.slice(0, 1) });
    const both = {
      ...one,
      listeners: [...one.listeners, ...other.listeners],
      virtualHosts: [...one.virtualHosts, ...other.virtualHosts],
    };
    const first = await pool.apply(both);
    expect(first.listeners.get(keyOfPort(taken))).to.include({ state: 'failed', code: 'EADDRINUSE' });
    expect(first.listeners.get(keyOfPort(free))).to.deep.equal({ state: 'serving' });
    expect(await ask(free)).to.include({ status: 200 });

    holder.close();
    await once(holder, 'close');
    const second = await pool.apply(both);
    expect(second.listeners.get(keyOfPort(taken))).to.deep.equal({ state: 'serving' });
  });

  it('does nothing for an equal configuration', async () => {
    pool = start(1);
    const port = await freePort();
    const configuration = simpleConfiguration({ port, origins: ports.slice(0, 1) });
    const first = await pool.apply(configuration);
    const second = await pool.apply({ ...configuration, routes: [...configuration.routes] });
    expect(second).to.equal(first);
  });

  it('invariant 2: a request sees one revision, and none is lost while revisions follow each other', async () => {
    pool = start(2);
    const port = await freePort();
    const revision = (index: number) =>
      simpleConfiguration({
        port,
        origins: [ports[index % 2] ?? { address: '', port: 0 }],
        filters: [
          {
            type: 'response-headers',
            set: [{ name: 'x-revision', value: index % 2 === 0 ? 'a' : 'b' }],
            add: [],
            remove: [],
          },
        ],
      });
    await pool.apply(revision(0));
    let running = true;
    const agent = new Agent({ keepAlive: true });
    const clients = Array.from({ length: 8 }, async () => {
      const seen = new Set<string>();
      while (running) {
        const answer = await ask(port, { agent });
        if (answer instanceof Error) throw answer;
        expect(answer.status).to.equal(200);
        // The header is the route's, the body the backend's: both of the same revision.
        expect(answer.headers['x-revision']).to.equal(answer.body);
        seen.add(answer.body);
      }
      return seen;
    });
    for (let index = 1; index <= 40; index += 1) await pool.apply(revision(index));
    running = false;
    const seen = await Promise.all(clients);
    agent.destroy();
    expect(new Set(seen.flatMap((each) => [...each]))).to.deep.equal(new Set(['a', 'b']));
  });

  it('replaces a worker that dies; the others serve on and the new one has the configuration', async () => {
    pool = start(2);
    const port = await freePort();
    await pool.apply(simpleConfiguration({ port, origins: ports.slice(0, 1) }));
    await handles[0]?.terminate();
    // The other worker has the same port: new connections are served all the time.
    await untilServed(port);
    while (handles.length < 3) await new Promise((resolve) => setImmediate(resolve));
    await handles[2]?.started;
    const result = await pool.apply(simpleConfiguration({ port, origins: ports.slice(1) }));
    expect(result.listeners.get(keyOfPort(port))).to.deep.equal({ state: 'serving' });
    await handles[1]?.terminate();
    await untilServed(port);
    const answer = await ask(port);
    expect(answer).to.include({ status: 200, body: 'b' });
    expect(await metrics.text()).to.match(/trickster_engine_worker_restarts_total [1-9]/);
  });

  it('does not say that it serves when no worker lives', async () => {
    pool = start(1);
    const port = await freePort();
    await handles[0]?.started;
    const dying = handles[0]?.terminate();
    const fault: unknown = await pool
      .apply(simpleConfiguration({ port, origins: ports.slice(0, 1) }))
      .catch((error: unknown) => error);
    expect(fault).to.have.property('code', 'ERR_WORKER_LOST');
    await dying;
    while (handles.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await handles[1]?.started;
    const result = await pool.apply(simpleConfiguration({ port, origins: ports.slice(0, 1) }));
    expect(result.listeners.get(keyOfPort(port))).to.deep.equal({ state: 'serving' });
  });

  it('drains: what is in flight ends, nothing new is accepted', async () => {
    pool = start(2);
    const port = await freePort();
    const slow = createServer((_request, response) => {
      response.write('first ');
      slow.once('finish-now', () => response.end('last'));
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const address = slow.address();
    if (typeof address !== 'object' || address === null) throw new Error('no address');
    await pool.apply(simpleConfiguration({ port, origins: [{ address: '127.0.0.1', port: address.port }] }));
    const begun = once(slow, 'request');
    const answer = ask(port);
    await begun;
    const drained = pool.drain(5_000);
    // Accepting has stopped when a new connection is refused.
    const deadline = Date.now() + 5_000;
    while (!((await ask(port)) instanceof Error)) expect(Date.now()).to.be.below(deadline);
    slow.emit('finish-now');
    expect(await answer).to.include({ status: 200, body: 'first last' });
    await drained;
    slow.closeAllConnections();
    slow.close();
  });

  it('closes a listener that is gone', async () => {
    pool = start(2);
    const port = await freePort();
    await pool.apply(simpleConfiguration({ port, origins: ports.slice(0, 1) }));
    await pool.apply(EMPTY_CONFIGURATION);
    expect(await ask(port)).to.be.instanceOf(Error);
  });
});
