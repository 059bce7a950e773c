import { once } from 'node:events';
import { createServer } from 'node:http';
import * as http2 from 'node:http2';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { DEFAULT_LISTENER_SETTINGS, type Listener } from '../../../src/ir/listener.js';
import type { ProxyConfiguration } from '../../../src/ir/proxy-configuration.js';
import type { ServerTls } from '../../../src/ir/tls.js';
import { TestAuthority, type IssuedCertificate } from '../../support/certificates.js';
import { streamSuite, streamUpstream, toCertificate } from '../../support/engine/stream-lab.js';
import { freePort } from '../../support/free-port.js';

const authority = new TestAuthority();
const clients = new TestAuthority('Client CA');
const first = authority.server(['*.example.test']);
const second = authority.server(['*.example.test']);
const other = authority.server(['other.test']);
const me = clients.client('me');
const stranger = new TestAuthority('Nobody').client('me');

interface Asked {
  readonly port: number;
  readonly servername?: string;
  readonly host?: string;
  readonly agent?: Agent;
  readonly client?: IssuedCertificate;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly fingerprint: string;
}

/** What was answered, or the code of what went wrong. */
function ask({
  port,
  servername = 'a.example.test',
  host = servername,
  agent,
  client,
}: Asked): Promise<Answer | string> {
  return new Promise((resolve) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        servername,
        ca: authority.certificate,
        headers: { host },
        agent: agent ?? new Agent({ keepAlive: false }),
        ...(client && { cert: client.certificate, key: client.privateKey }),
      },
      (response) => {
        const { socket } = response;
        const fingerprint = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : '';
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body, fingerprint });
        });
      },
    );
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
    outgoing.end();
  });
}

streamSuite('HTTPS listeners', ({ lab, cleanUp }) => {
  let originPort: number;

  beforeEach(async () => {
    const origin = createServer((incoming, response) => {
      response.end(`${String(incoming.headers.host)} ${String(incoming.url)}`);
    }).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    cleanUp(() => {
      origin.closeAllConnections();
      origin.close();
    });
    origin.on('upgrade', (_incoming, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    });
    originPort = (origin.address() as AddressInfo).port;
  });

  /** Listeners for HTTPS; every server serves its own hostname with one certificate. */
  function configuration(
    listeners: readonly { readonly port: number; readonly servers: Readonly<Record<string, ServerTls>> }[],
    certificates: Readonly<Record<string, IssuedCertificate>>,
  ): Partial<ProxyConfiguration> {
    const hosts = listeners.flatMap(({ port, servers }) =>
      Object.keys(servers).map((hostname) => ({
        port,
        hostname,
        key: `tcp/127.0.0.1:${port}|${hostname}|${hostname}`,
      })),
    );
    return {
      listeners: listeners.map(({ port, servers }): Listener => ({
        key: `tcp/127.0.0.1:${port}`,
        address: '127.0.0.1',
        port,
        transport: 'tcp',
        protocol: 'tls',
        servers: Object.entries(servers).map(([hostname, tls]) => ({
          hostname,
          listeners: [`Gateway/ns/gw/${hostname}`],
          tls,
          application: {
            type: 'http',
            virtualHosts: hosts
              .filter((one) => one.port === port && one.hostname === hostname)
              .map(({ key }) => key),
          },
        })),
        settings: DEFAULT_LISTENER_SETTINGS,
      })),
      virtualHosts: hosts.map(({ key, hostname }) => ({
        key,
        hostname,
        routes: ['HTTPRoute/ns/r@Gateway/ns/gw'],
      })),
      routes: [
        {
          key: 'HTTPRoute/ns/r@Gateway/ns/gw',
          kind: 'HTTPRoute',
          namespace: 'ns',
          name: 'r',
          createdAt: 0,
          rules: [
            {
              index: 0,
              matches: [{ path: { type: 'prefix', value: '' }, headers: [], queryParams: [] }],
              filters: [],
              backends: [{ weight: 1, upstream: 'u', filters: [] }],
              timeouts: {},
            },
          ],
        },
      ],
      upstreams: [{ ...streamUpstream('u', [originPort]), protocol: 'http' }],
      certificates: Object.entries(certificates).map(([key, issued]) => toCertificate(key, issued)),
    };
  }

  const plain = (certificate: string): ServerTls => ({ certificates: [certificate] });

  it('carries a tunnel, small messages and more than every buffer holds', async () => {
    const port = await freePort();
    const served = [{ port, servers: { 'a.example.test': plain('first') } }];
    await lab().serve(configuration(served, { first }));
    const headers = { connection: 'Upgrade', upgrade: 'echo', host: 'a.example.test' };
    const asked = { host: '127.0.0.1', port, servername: 'a.example.test', ca: authority.certificate };
    const outgoing = request({ ...asked, headers, agent: false }).end();
    const [, socket] = (await once(outgoing, 'upgrade')) as [unknown, TLSSocket];
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => (received = Buffer.concat([received, bytes])));
    const echoes = async (sent: Buffer): Promise<void> => {
      received = Buffer.alloc(0);
      socket.write(sent);
      while (received.length < sent.length) await once(socket, 'data');
      expect(received.equals(sent)).to.equal(true);
    };
    for (let i = 1; i <= 20; i++) await echoes(Buffer.alloc(i * 1000, i));
    await echoes(Buffer.alloc(5_000_000, 'large'));
    await echoes(Buffer.from('small'));
    socket.end();
    await once(socket, 'end');
  });

  it('T-04 new handshakes get the new certificate, while open connections go on', async () => {
    const port = await freePort();
    const listeners = [{ port, servers: { '*.example.test': plain('Secret/ns/wild') } }];
    await lab().serve(configuration(listeners, { 'Secret/ns/wild': first }));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanUp(() => {
      agent.destroy();
    });
    const before = (await ask({ port, agent })) as Answer;
    expect(before.status).to.equal(200);
    await lab().serve(configuration(listeners, { 'Secret/ns/wild': second }));
    expect(await ask({ port, agent }), 'the open connection').to.deep.equal(before);
    const after = (await ask({ port })) as Answer;
    expect(after.status).to.equal(200);
    expect(after.fingerprint).to.not.equal(before.fingerprint);
  });

  it('T-08 a request whose host belongs to another server of the port is misdirected', async () => {
    const port = await freePort();
    const servers = { '*.example.test': plain('Secret/ns/wild'), 'other.test': plain('Secret/ns/other') };
    await lab().serve(
      configuration([{ port, servers }], { 'Secret/ns/wild': first, 'Secret/ns/other': other }),
    );
    expect(await ask({ port, servername: 'other.test' })).to.include({ status: 200, body: 'other.test /' });
    expect(await ask({ port, host: 'b.example.test' })).to.include({ status: 200 });
    expect(await ask({ port, host: 'other.test' })).to.include({ status: 421 });
    expect(await ask({ port, servername: 'nobody.test' }), 'no server of this name').to.be.a('string');
  });

  it('A-08 the port in :authority does not matter, and reaches the backend', async () => {
    const port = await freePort();
    await lab().serve(configuration([{ port, servers: { '*.example.test': plain('c') } }], { c: first }));
    const session = http2.connect(`https://127.0.0.1:${port}`, {
      servername: 'a.example.test',
      ca: authority.certificate,
    });
    cleanUp(() => {
      session.destroy();
    });
    for (const asked of ['a.example.test:8443', 'A.Example.Test', 'a.example.test.']) {
      const stream = session.request({ ':authority': asked, ':path': '/x' });
      let body = '';
      stream.setEncoding('utf8').on('data', (text: string) => (body += text));
      await once(stream, 'end');
      expect(body).to.equal(`${asked} /x`);
    }
  });

  it('T-09 client certificates are asked for by port', async () => {
    const [open, fallback, strict] = [await freePort(), await freePort(), await freePort()];
    const validated = (mode: 'require' | 'insecure-fallback'): ServerTls => ({
      certificates: ['c'],
      clientValidation: { mode, caBundle: clients.certificate },
    });
    await lab().serve(
      configuration(
        [
          { port: open, servers: { '*.example.test': plain('c') } },
          { port: fallback, servers: { '*.example.test': validated('insecure-fallback') } },
          { port: strict, servers: { '*.example.test': validated('require') } },
        ],
        { c: first },
      ),
    );
    expect(await ask({ port: open })).to.include({ status: 200 });
    for (const client of [undefined, stranger, me])
      expect(await ask({ port: fallback, ...(client && { client }) })).to.include({ status: 200 });
    expect(await ask({ port: strict, client: me })).to.include({ status: 200 });
    expect(await ask({ port: strict }), 'without a certificate').to.be.a('string');
    expect(await ask({ port: strict, client: stranger }), 'of another CA').to.be.a('string');
    expect(await ask({ port: strict, client: me }), 'the port still serves').to.include({ status: 200 });
  });

  it('T-07 a server whose certificate is not there is not served, and others are', async () => {
    const port = await freePort();
    const servers = { '*.example.test': plain('c'), 'other.test': plain('missing') };
    await lab().serve(configuration([{ port, servers }], { c: first }));
    expect(await ask({ port })).to.include({ status: 200 });
    expect(await ask({ port, servername: 'other.test' })).to.be.a('string');
  });
});
