import { once } from 'node:events';
import type { ConnectionOptions } from 'node:tls';

import { expect } from 'chai';

import type { Server } from '../../../src/ir/listener.js';
import type { UpstreamTls } from '../../../src/ir/tls.js';
import type { Upstream } from '../../../src/ir/upstream.js';
import { TestAuthority } from '../../support/certificates.js';
import { freePort } from '../../support/free-port.js';
import { simpleConfiguration } from '../../support/engine/simple-configuration.js';
import {
  streamListener,
  streamServer,
  streamSuite,
  streamUpstream,
  toCertificate,
} from '../../support/engine/stream-lab.js';
import { echo, StreamOrigin, StreamPeer } from '../../support/engine/stream-peer.js';
import { until } from '../../support/until.js';

const RELAY = 'Service/ns/a/443/relay';
const OTHER = 'Service/ns/b/443/relay';
const STREAM = 'Service/ns/a/80/stream';
const CERTIFICATE = 'Secret/ns/listener';

const authority = new TestAuthority();
const behind = authority.server(['a.example.test', 'b.example.test', 'backend.test']);
const atGateway = authority.server(['t.example.test']);

streamSuite('TLS listeners without HTTP', ({ lab, cleanUp }) => {
  let port: number;

  beforeEach(async () => {
    port = await freePort();
  });

  const certificates = [toCertificate(CERTIFICATE, atGateway)];

  async function serve(servers: readonly Server[], upstreams: readonly Upstream[]): Promise<void> {
    await lab().serve({
      listeners: [streamListener({ protocol: 'tls', port, servers })],
      upstreams,
      certificates,
    });
  }

  async function secret(name: string, credentials = behind): Promise<StreamOrigin> {
    const started = await StreamOrigin.startTls(credentials, echo(name));
    cleanUp(() => started.stop());
    return started;
  }

  async function plain(name: string): Promise<StreamOrigin> {
    const started = await StreamOrigin.echo(name);
    cleanUp(() => started.stop());
    return started;
  }

  function client(servername: string, options: ConnectionOptions = {}): StreamPeer {
    const peer = StreamPeer.connectTls(port, {
      ca: authority.certificate,
      ...(servername !== '' && { servername }),
      ...options,
    });
    cleanUp(() => peer.socket.destroy());
    return peer;
  }

  function raw(): StreamPeer {
    const peer = StreamPeer.connect(port);
    cleanUp(() => peer.socket.destroy());
    return peer;
  }

  /** Closed with FIN or RST, not with an alert, which OpenSSL would tell as an error of its own. */
  async function isCut(peer: StreamPeer): Promise<void> {
    await until(() => peer.closed || peer.ended);
    expect(peer.bytes).to.equal(0);
    expect(peer.error?.code ?? 'ECONNRESET').to.equal('ECONNRESET');
  }

  it('passes TLS through: the backend sees the name and its own certificate is shown', async () => {
    const started = await secret('secret ');
    await serve(
      [streamServer([RELAY], { hostname: 'a.example.test' })],
      [streamUpstream(RELAY, [started.port])],
    );
    const one = client('a.example.test');
    one.socket.write('PING');
    await one.hears('secret PING');
    expect(one.tls.getPeerCertificate().subject.CN).to.equal(behind.commonName);
    expect(started.peers[0]!.tls.servername).to.equal('a.example.test');
  });

  it('passes the ClientHello on byte by byte, whatever pieces it comes in', async () => {
    const origin = await StreamOrigin.start();
    cleanUp(() => origin.stop());
    await serve([streamServer([RELAY])], [streamUpstream(RELAY, [origin.port])]);
    const hello = await helloOf('a.example.test');
    const one = raw();
    one.socket.setNoDelay(true);
    for (const part of [hello.subarray(0, 3), hello.subarray(3, 60), hello.subarray(60)]) {
      one.socket.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => origin.peers[0]?.bytes === hello.length);
    expect(origin.peers[0]!.received.equals(hello)).to.equal(true);
    one.socket.end('rest');
    await until(() => origin.peers[0]!.ended);
    expect(origin.peers[0]!.received.subarray(hello.length).toString()).to.equal('rest');
  });

  it('N-06 chooses by the most specific name, whatever its case, and cuts what has none', async () => {
    const [exact, wild] = [await secret('exact'), await secret('wild')];
    await serve(
      [
        streamServer([RELAY], { hostname: 'a.example.test' }),
        streamServer([OTHER], { hostname: '*.example.test' }),
      ],
      [streamUpstream(RELAY, [exact.port]), streamUpstream(OTHER, [wild.port])],
    );
    const checked = { checkServerIdentity: () => undefined };
    await client('a.example.test').hears('exact');
    await client('A.EXAMPLE.test', checked).hears('exact');
    await client('b.example.test').hears('wild');
    await client('x.y.example.test', checked).hears('wild');
    await isCut(client('example.test'));
    await isCut(client('', checked));
    const garbage = raw();
    garbage.socket.write('GET / HTTP/1.1\r\n\r\n');
    await isCut(garbage);
  });

  it('N-06 does not wait forever for a ClientHello', async () => {
    await serve([streamServer([RELAY])], []);
    const [silent, slow] = [raw(), raw()];
    slow.socket.write(Buffer.from('160301', 'hex'));
    await Promise.all([isCut(silent), isCut(slow)]);
  });

  it('cuts without an alert when the backend cannot be used', async () => {
    const refusal = { status: 500, reason: 'no such Service' } as const;
    const dead = await freePort();
    await serve(
      [
        streamServer([{ refusal }], { hostname: 'a.example.test' }),
        streamServer([], { hostname: 'b.example.test' }),
        streamServer([RELAY], { hostname: 'c.example.test' }),
        streamServer([OTHER], { hostname: 'd.example.test' }),
      ],
      [streamUpstream(RELAY, [dead]), streamUpstream(OTHER, [])],
    );
    for (const name of 'abcd') await isCut(client(`${name}.example.test`));
  });

  it('ends TLS and relays what is within', async () => {
    const origin = await plain('plain ');
    await serve(
      [streamServer([STREAM], { hostname: 't.example.test', certificate: CERTIFICATE })],
      [streamUpstream(STREAM, [origin.port])],
    );
    const one = client('t.example.test');
    one.socket.write('PING');
    await one.hears('plain PING');
    expect(origin.peers[0]!.text).to.equal('PING');
    one.socket.end();
    await until(() => one.closed && origin.peers[0]!.ended);
    expect(one.error).to.equal(undefined);
  });

  it('never passes through what should end here, when its certificate is not there', async () => {
    const started = await secret('secret');
    await serve(
      [streamServer([RELAY], { hostname: 'a.example.test', certificate: 'Secret/ns/none' })],
      [streamUpstream(RELAY, [started.port])],
    );
    await isCut(client('a.example.test'));
    expect(started.peers).to.deep.equal([]);
  });

  it('serves passthrough, terminated and HTTPS side by side on one port', async () => {
    const [through, ended] = [await secret('through'), await plain('ended')];
    const https = simpleConfiguration({ port, origins: [] });
    const [httpServer] = https.listeners[0]!.servers;
    const listener = streamListener({
      protocol: 'tls',
      port,
      servers: [
        streamServer([RELAY], { hostname: 'a.example.test' }),
        {
          ...httpServer!,
          hostname: 'h.example.test',
          tls: { certificates: [CERTIFICATE] },
        },
        streamServer([STREAM], { hostname: 't.example.test', certificate: CERTIFICATE }),
      ],
    });
    await lab().serve({
      ...https,
      listeners: [listener],
      upstreams: [streamUpstream(RELAY, [through.port]), streamUpstream(STREAM, [ended.port])],
      certificates,
    });
    await client('a.example.test').hears('through');
    await client('t.example.test').hears('ended');
    const web = client('h.example.test', { checkServerIdentity: () => undefined });
    web.socket.write('GET / HTTP/1.1\r\nHost: h.example.test\r\n\r\n');
    await until(() => web.text.startsWith('HTTP/1.1 '));
  });

  describe('with TLS to the backend', () => {
    const tls: UpstreamTls = {
      serverName: 'backend.test',
      caBundle: authority.certificate,
      subjectAltNames: [],
    };

    async function encryptedAgain(settings: UpstreamTls): Promise<StreamOrigin> {
      const started = await secret('again ');
      await serve(
        [streamServer([STREAM], { hostname: 't.example.test', certificate: CERTIFICATE })],
        [streamUpstream(STREAM, [started.port], { tls: settings })],
      );
      return started;
    }

    it('encrypts again what was decrypted', async () => {
      const started = await encryptedAgain(tls);
      const one = client('t.example.test');
      one.socket.write('PING');
      await one.hears('again PING');
      expect(started.peers[0]!.tls.servername).to.equal('backend.test');
    });

    it('sends nothing to a backend that is not who it should be', async () => {
      const started = await encryptedAgain({ ...tls, serverName: 'another.test' });
      const one = client('t.example.test');
      one.socket.write('secret');
      await isCut(one);
      expect(started.peers.map(({ text }) => text).join('')).to.equal('');
    });
  });
});

/** What a client of this name begins with. */
async function helloOf(servername: string): Promise<Buffer> {
  const listener = await StreamOrigin.start();
  const one = StreamPeer.connectTls(listener.port, { servername });
  await once(one.socket, 'connect');
  await until(() => (listener.peers[0]?.bytes ?? 0) > 0);
  one.socket.destroy();
  const hello = listener.peers[0]!.received;
  await listener.stop();
  return hello;
}
