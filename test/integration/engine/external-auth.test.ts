import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import * as grpc from '@grpc/grpc-js';
import { expect } from 'chai';

import type { DataPlaneOptions } from '../../../src/engine/workers/protocol.js';
import { WorkerHandle } from '../../../src/engine/workers/worker-handle.js';
import { WorkerPool } from '../../../src/engine/workers/worker-pool.js';
import type { ExternalAuth } from '../../../src/ir/http-filter.js';
import type { Upstream } from '../../../src/ir/upstream.js';
import { createLogger } from '../../../src/telemetry/logger.js';
import { PrometheusMetrics } from '../../../src/telemetry/metrics.js';
import { decodeCheck, encodeVerdict, headerOf } from '../../support/engine/ext-authz.js';
import { simpleConfiguration } from '../../support/engine/simple-configuration.js';
import { freePort } from '../../support/free-port.js';

const OPTIONS: DataPlaneOptions = {
  wire: 'auto',
  logLevel: 'silent',
  reusePort: false,
  caches: {},
  negativeCaches: {},
  accessLog: { enabled: false, format: 'json', sampleRate: 1 },
  ticketKeys: '00'.repeat(48),
  sessionKey: '00'.repeat(32),
};

const FILTER: ExternalAuth = {
  type: 'external-auth',
  protocol: 'grpc',
  upstream: 'auth',
  path: '',
  allowedRequestHeaders: ['x-token'],
  allowedResponseHeaders: [],
  forwardBodyBytes: 5,
};

const same = (bytes: Buffer): Buffer => bytes;

/** `let-me-in` may pass; everybody else is told who they are. */
function check(call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>): void {
  const { headers, body } = decodeCheck(call.request).attributes.request.http;
  const verdict =
    headers['x-token'] === 'let-me-in'
      ? {
          status: { code: 0 },
          okResponse: {
            headers: [headerOf('x-user', 'alice'), headerOf('x-body', body)],
            headersToRemove: ['x-token'],
            responseHeadersToAdd: [headerOf('x-checked', 'yes')],
          },
        }
      : { status: { code: 16 }, deniedResponse: { status: { code: 401 }, body: 'who are you?' } };
  done(null, encodeVerdict(verdict));
}

describe('external authorization over gRPC, through the whole engine', () => {
  let pool: WorkerPool;
  let origin: Server;
  let service: grpc.Server;
  let port: number;
  let reached: { headers: NodeJS.Dict<string | string[]>; body: string }[];

  beforeEach(async () => {
    reached = [];
    origin = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        reached.push({ headers: request.headers, body });
        response.end('served');
      });
    }).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    service = new grpc.Server();
    const definition = {
      path: '/envoy.service.auth.v3.Authorization/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    } as const;
    service.addService({ check: definition }, { check });
    const servicePort = await new Promise<number>((resolve, reject) => {
      service.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    pool = new WorkerPool({
      workers: 1,
      dataPlane: OPTIONS,
      logger: createLogger('silent'),
      metrics: new PrometheusMetrics(),
      spawn: (start, onLost) => new WorkerHandle(start, onLost),
    });
    port = await freePort();
    const origins = [{ address: '127.0.0.1', port: (origin.address() as AddressInfo).port }];
    const simple = simpleConfiguration({ port, origins, filters: [FILTER] });
    const auth: Upstream = {
      key: 'auth',
      protocol: 'h2c',
      endpoints: [{ address: '127.0.0.1', port: servicePort }],
      loadBalancing: 'rr',
      connectTimeoutMs: 1_000,
    };
    await pool.apply({ ...simple, upstreams: [...simple.upstreams, auth] });
  });

  afterEach(async () => {
    await pool.close();
    service.forceShutdown();
    origin.closeAllConnections();
    origin.close();
  });

  const ask = (token: string) =>
    fetch(`http://127.0.0.1:${String(port)}/x`, {
      method: 'POST',
      body: 'hello world',
      headers: { 'x-token': token, 'x-user': 'admin' },
    });

  it('lets through what the service allows, as it wants it', async () => {
    const response = await ask('let-me-in');
    expect([response.status, await response.text()]).to.deep.equal([200, 'served']);
    expect(response.headers.get('x-checked')).to.equal('yes');
    expect(reached).to.have.length(1);
    expect(reached[0]?.body).to.equal('hello world');
    expect(reached[0]?.headers).to.include({ 'x-user': 'alice', 'x-body': 'hello' });
    expect(reached[0]?.headers).to.not.have.property('x-token');
  });

  it('gives the denial to the client, and the backend hears nothing', async () => {
    const response = await ask('guess');
    expect([response.status, await response.text()]).to.deep.equal([401, 'who are you?']);
    expect(reached).to.deep.equal([]);
  });

  it('invariant 6: denies when the service is gone', async () => {
    service.forceShutdown();
    const response = await ask('let-me-in');
    expect(response.status).to.equal(503);
    expect(reached).to.deep.equal([]);
  });
});
