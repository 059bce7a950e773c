import { randomBytes } from 'node:crypto';
import { once } from 'node:events';

import { expect } from 'chai';

import type { Listener } from '../../../src/ir/listener.js';
import { freePort } from '../../support/free-port.js';
import {
  streamListener,
  streamServer,
  streamSuite,
  streamUpstream,
} from '../../support/engine/stream-lab.js';
import { echo, StreamOrigin, StreamPeer } from '../../support/engine/stream-peer.js';
import { until } from '../../support/until.js';

const A = 'Service/ns/a/80/relay';
const B = 'Service/ns/b/80/relay';
const MEBIBYTE = 1024 * 1024;

streamSuite('TCP relay', ({ lab, cleanUp }) => {
  let port: number;
  let listener: Listener;

  beforeEach(async () => {
    port = await freePort();
    listener = streamListener({ protocol: 'tcp', port, servers: [streamServer([A])] });
  });

  async function origin(script?: (peer: StreamPeer) => void): Promise<StreamOrigin> {
    const started = await StreamOrigin.start(script);
    cleanUp(() => started.stop());
    return started;
  }

  function client(): StreamPeer {
    const peer = StreamPeer.connect(port);
    cleanUp(() => peer.socket.destroy());
    return peer;
  }

  async function relayed(script?: (peer: StreamPeer) => void): Promise<[StreamPeer, StreamPeer]> {
    const started = await origin(script);
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [started.port])] });
    const one = client();
    await until(() => started.peers.length === 1);
    return [one, started.peers[0]!];
  }

  it('N-06 lets the server speak first, without a byte of the client', async () => {
    const [one, server] = await relayed(echo('220 ready '));
    await one.hears('220 ready ');
    one.socket.write('HELO');
    await one.hears('220 ready HELO');
    expect(server.text).to.equal('HELO');
  });

  it('counts connections and bytes while they flow', async () => {
    const [one] = await relayed(echo('hi '));
    one.socket.write('12345');
    await one.hears('hi 12345');
    expect(lab().counts(listener)).to.include({
      connectionsAccepted: 1,
      connectionsActive: 1,
      bytesReceived: 5,
      bytesSent: 8,
    });
    expect(lab().read('upstreamConnectionsActive')).to.equal(1);
    one.socket.destroy();
    await until(() => lab().counts(listener).connectionsActive === 0);
    expect(lab().read('upstreamConnectionsActive')).to.equal(0);
  });

  it('N-03 the client ends first and still gets everything', async () => {
    const answer = randomBytes(5 * MEBIBYTE);
    const [one, server] = await relayed((peer) => {
      peer.socket.on('end', () => peer.socket.end(answer));
    });
    one.socket.end('question');
    await until(() => one.closed);
    expect(server.text).to.equal('question');
    expect(one.received.equals(answer)).to.equal(true);
    expect(one.error).to.equal(undefined);
    await until(() => lab().counts(listener).connectionsActive === 0);
  });

  it('N-03 the server ends first and still gets everything', async () => {
    const upload = randomBytes(5 * MEBIBYTE);
    const [one, server] = await relayed((peer) => peer.socket.end('bye'));
    await until(() => one.ended);
    expect(one.text).to.equal('bye');
    one.socket.end(upload);
    await until(() => server.closed);
    expect(server.received.equals(upload)).to.equal(true);
    await until(() => lab().counts(listener).connectionsActive === 0);
  });

  it('N-03 a reset of the client resets the server', async () => {
    const [one, server] = await relayed(echo('hi'));
    await one.hears('hi');
    one.socket.resetAndDestroy();
    await until(() => server.closed);
    expect(server.error?.code).to.equal('ECONNRESET');
  });

  it('N-03 a reset of the server resets the client', async () => {
    const [one, server] = await relayed(echo('hi'));
    await one.hears('hi');
    server.socket.resetAndDestroy();
    await until(() => one.closed);
    expect(one.error?.code).to.equal('ECONNRESET');
  });

  for (const slow of ['client', 'server'] as const) {
    it(`holds the sender back while the ${slow} does not read, and loses nothing`, async () => {
      const [one, server] = await relayed();
      const [reader, writer] = slow === 'client' ? [one, server] : [server, one];
      reader.socket.pause();
      const bytes = randomBytes(24 * MEBIBYTE);
      writer.socket.end(bytes);
      const carried = (): number => {
        const counts = lab().counts(listener);
        return counts.bytesSent + counts.bytesReceived;
      };
      // What the kernel's buffers of two connections take, and no more.
      let before = -1;
      await until(() => {
        const isSettled = before === carried();
        before = carried();
        return isSettled && before > 0;
      }, 50);
      expect(carried()).to.be.below(bytes.length / 2);
      expect(reader.bytes).to.equal(0);
      reader.socket.resume();
      await until(() => reader.ended);
      expect(reader.received.equals(bytes)).to.equal(true);
    });
  }

  it('carries many connections in both directions at a time, each its own bytes', async () => {
    const started = await origin(({ socket }) => socket.pipe(socket));
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [started.port])] });
    await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const one = client();
        const bytes = randomBytes(200_000 + 7919 * index);
        for (let at = 0; at < bytes.length;) {
          const length = 1 + ((at * 31 + index * 977) % 70_000);
          if (!one.socket.write(bytes.subarray(at, at + length))) await once(one.socket, 'drain');
          at += length;
        }
        one.socket.end();
        await until(() => one.closed, 5, 10_000);
        expect(one.received.equals(bytes)).to.equal(true);
      }),
    );
    await until(() => lab().counts(listener).connectionsActive === 0);
  });

  it('tries the next endpoint when one does not listen', async () => {
    const started = await origin(echo('up'));
    const dead = await freePort();
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [dead, started.port])] });
    for (let index = 0; index < 4; index++) await client().hears('up');
    expect(lab().read('upstreamConnectionsFailed')).to.be.within(1, 4);
  });

  it('resets the client when nobody listens, and when there is nobody', async () => {
    const dead = await freePort();
    const upstream = streamUpstream(A, [dead]);
    await lab().serve({ listeners: [listener], upstreams: [upstream] });
    const first = client();
    await until(() => first.closed);
    expect(first.error?.code).to.equal('ECONNRESET');
    await lab().serve({ upstreams: [{ ...upstream, endpoints: [] }] });
    const second = client();
    await until(() => second.closed);
    await lab().serve({ upstreams: [] });
    const third = client();
    await until(() => third.closed);
    const routeless = streamListener({ protocol: 'tcp', port, servers: [streamServer([])] });
    await lab().serve({ listeners: [routeless] });
    const fourth = client();
    await until(() => fourth.closed);
    expect(lab().counts(listener)).to.include({ connectionsAccepted: 4, connectionsActive: 0 });
  });

  it('chooses backends by weight; refusals take their share', async () => {
    const names = await Promise.all(['a', 'b'].map(async (name) => origin(echo(name))));
    const refusal = { status: 500, reason: 'no such Service' } as const;
    const servers = [
      streamServer([
        { upstream: A, weight: 7 },
        { upstream: B, weight: 2 },
        { refusal, weight: 1 },
        { weight: 0 },
      ]),
    ];
    await lab().serve({
      listeners: [{ ...listener, servers }],
      upstreams: [streamUpstream(A, [names[0]!.port]), streamUpstream(B, [names[1]!.port])],
    });
    const seen = { a: 0, b: 0, refused: 0 };
    for (let index = 0; index < 50; index++) {
      const one = client();
      await until(() => one.bytes > 0 || one.closed, 1);
      seen[one.text === 'a' ? 'a' : one.text === 'b' ? 'b' : 'refused']++;
      one.socket.destroy();
    }
    expect(seen).to.deep.equal({ a: 35, b: 10, refused: 5 });
  });

  it('N-01 the route that serves now gets new connections, the old ones stay', async () => {
    const [old, young] = [await origin(echo('old')), await origin(echo('young'))];
    const upstreams = [streamUpstream(A, [old.port]), streamUpstream(B, [young.port])];
    await lab().serve({ listeners: [listener], upstreams });
    const before = client();
    await before.hears('old');
    await lab().serve({ listeners: [{ ...listener, servers: [streamServer([B])] }] });
    await client().hears('young');
    before.socket.write(' still');
    await before.hears('old still');
  });

  it('N-07 no change of the configuration closes a connection but of its own endpoint', async () => {
    const [here, other] = [await origin(echo('here')), await origin(echo('other'))];
    const upstream = streamUpstream(A, [here.port]);
    await lab().serve({ listeners: [listener], upstreams: [upstream] });
    const idle = Array.from({ length: 100 }, client);
    await Promise.all(idle.map((one) => one.hears('here')));

    const second = streamListener({ protocol: 'tcp', port: await freePort(), servers: [streamServer([B])] });
    await lab().serve({
      listeners: [listener, second],
      upstreams: [upstream, streamUpstream(B, [other.port])],
    });
    await lab().serve({ upstreams: [streamUpstream(A, [here.port, other.port])] });
    await lab().serve({ upstreams: [streamUpstream(A, [other.port])] });
    await lab().serve({ upstreams: [streamUpstream(A, [here.port, other.port])] });
    await lab().serve({ listeners: [] });
    for (const one of idle) one.socket.write('!');
    await Promise.all(idle.map((one) => one.hears('here!')));
    const late = client();
    await until(() => late.closed);
    expect(late.error?.code).to.equal('ECONNREFUSED');
  });

  it('drains: relays go on until they end by themselves', async () => {
    const [one] = await relayed(echo('hi'));
    await one.hears('hi');
    const drained = lab().dataPlane.drain(5_000);
    one.socket.write(' again');
    await one.hears('hi again');
    one.socket.end();
    await drained;
    await until(() => one.closed);
    expect(one.error).to.equal(undefined);
  });

  it('drains: what does not end in time is reset', async () => {
    const [one, server] = await relayed(echo('hi'));
    await one.hears('hi');
    await lab().dataPlane.drain(50);
    await until(() => one.closed && server.closed);
    expect(one.error?.code).to.equal('ECONNRESET');
  });

  it('gives up the backend when the client leaves before it is connected', async () => {
    // TEST-NET-1 answers nobody, or at once that it cannot be reached.
    const upstream = streamUpstream(A, [{ address: '192.0.2.1', port: 9 }], { connectTimeoutMs: 200 });
    await lab().serve({ listeners: [listener], upstreams: [upstream] });
    const one = client();
    await once(one.socket, 'connect');
    one.socket.resetAndDestroy();
    await until(() => lab().counts(listener).connectionsAccepted === 1);
    await until(() => lab().counts(listener).connectionsActive === 0);
  });

  it('N-02 serves TCP beside UDP on one port', async () => {
    const started = await origin(echo('tcp'));
    const udp = streamListener({ protocol: 'udp', port, servers: [streamServer([B])] });
    await lab().serve({ listeners: [listener, udp], upstreams: [streamUpstream(A, [started.port])] });
    await client().hears('tcp');
  });

  it('honours the limit of connections', async () => {
    const started = await origin(echo('hi'));
    const limited = { ...listener, settings: { ...listener.settings, connectionsLimit: 1 } };
    await lab().serve({ listeners: [limited], upstreams: [streamUpstream(A, [started.port])] });
    const first = client();
    await first.hears('hi');
    const second = client();
    await until(() => second.closed || second.ended);
    expect(second.text).to.equal('');
    first.socket.destroy();
    await until(() => lab().counts(listener).connectionsActive === 0);
    await client().hears('hi');
  });

  it('takes the PROXY header off', async () => {
    const started = await origin(echo('hi '));
    const behind = { ...listener, settings: { ...listener.settings, proxyProtocol: true } };
    await lab().serve({ listeners: [behind], upstreams: [streamUpstream(A, [started.port])] });
    const one = client();
    one.socket.write('PROXY TCP4 192.0.2.7 192.0.2.8 1234 80\r\npayload');
    await one.hears('hi payload');
  });
});
