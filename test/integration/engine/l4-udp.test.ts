import { createSocket, type Socket } from 'node:dgram';
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
import { UdpPeer } from '../../support/engine/udp-peer.js';
import { until } from '../../support/until.js';

const A = 'Service/ns/a/53/relay/udp';
const B = 'Service/ns/b/53/relay/udp';

streamSuite('UDP sessions beside TCP', ({ lab, cleanUp }) => {
  let port: number;
  let listener: Listener;

  beforeEach(async () => {
    port = await freePort();
    listener = streamListener({ protocol: 'udp', port, servers: [streamServer([A])] });
  });

  async function origin(name: string): Promise<UdpPeer> {
    const peer = await UdpPeer.answering((datagram) => Buffer.concat([Buffer.from(`${name}:`), datagram]));
    cleanUp(() => peer.close());
    return peer;
  }

  async function client(): Promise<UdpPeer> {
    const peer = await UdpPeer.silent();
    cleanUp(() => peer.close());
    return peer;
  }

  /** The answer to one datagram. */
  async function ask(peer: UdpPeer, text: string, to = port): Promise<string> {
    const before = peer.datagrams.length;
    peer.send(text, to);
    await until(() => peer.datagrams.length > before, 1);
    return peer.datagrams[before]!.bytes.toString();
  }

  it('relays datagrams and answers from the address of the listener', async () => {
    const started = await origin('a');
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [started.port])] });
    const one = await client();
    expect(await ask(one, 'q1')).to.equal('a:q1');
    expect(await ask(one, 'q2')).to.equal('a:q2');
    expect(one.datagrams.map(({ from }) => from)).to.deep.equal([port, port]);
    expect(new Set(started.datagrams.map(({ from }) => from)).size).to.equal(1);
    expect(lab().counts(listener)).to.include({
      connectionsAccepted: 1,
      connectionsActive: 1,
      bytesReceived: 4,
      bytesSent: 8,
    });
  });

  it('keeps the order of what comes before the session is there, empty and large datagrams too', async () => {
    const started = await origin('');
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [started.port])] });
    const one = await client();
    const sent = [Buffer.from('1'), Buffer.alloc(0), Buffer.alloc(8_000, 3), Buffer.from('4')];
    for (const datagram of sent) one.send(datagram, port);
    await until(() => started.datagrams.length === 4);
    expect(started.datagrams.map(({ bytes }) => bytes)).to.deep.equal(sent);
  });

  it('chooses by weight for each session, and a session stays', async () => {
    const [a, b] = [await origin('a'), await origin('b')];
    await lab().serve({
      listeners: [
        {
          ...listener,
          servers: [
            streamServer([
              { upstream: A, weight: 7 },
              { upstream: B, weight: 3 },
            ]),
          ],
        },
      ],
      upstreams: [streamUpstream(A, [a.port]), streamUpstream(B, [b.port])],
    });
    const clients = await Promise.all(Array.from({ length: 40 }, client));
    const first = [];
    for (const one of clients) first.push(await ask(one, ''));
    expect(first.filter((name) => name === 'a:').length).to.equal(28);
    for (const [index, one] of clients.entries()) expect(await ask(one, '')).to.equal(first[index]);
    expect(lab().counts(listener).connectionsActive).to.equal(40);
  });

  it('N-01 N-07 sessions follow the route, and survive what is not theirs', async () => {
    const [a, b] = [await origin('a'), await origin('b')];
    const upstreams = [streamUpstream(A, [a.port]), streamUpstream(B, [b.port])];
    await lab().serve({ listeners: [listener], upstreams });
    const one = await client();
    expect(await ask(one, '1')).to.equal('a:1');
    await lab().serve({ listeners: [{ ...listener, servers: [streamServer([A, B])] }] });
    expect(await ask(one, '2')).to.equal('a:2');
    expect(new Set(a.datagrams.map(({ from }) => from)).size).to.equal(1);
    await lab().serve({ listeners: [{ ...listener, servers: [streamServer([B])] }] });
    expect(await ask(one, '3')).to.equal('b:3');
    await lab().serve({ upstreams: [streamUpstream(B, [a.port])] });
    expect(await ask(one, '4')).to.equal('a:4');
    expect(lab().counts(listener).connectionsActive).to.equal(1);
  });

  it('begins anew with another endpoint when nobody listens', async () => {
    const started = await origin('a');
    const dead = await UdpPeer.silent();
    const { port: deadPort } = dead;
    await dead.close();
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [deadPort, started.port])] });
    const one = await client();
    await until(() => {
      one.send('q', port);
      return one.datagrams.length > 0;
    });
    expect(one.datagrams[0]!.bytes.toString()).to.equal('a:q');
  });

  it('drops what has nowhere to go', async () => {
    const started = await origin('a');
    const served = streamListener({ protocol: 'udp', port: await freePort(), servers: [streamServer([B])] });
    const other = streamUpstream(B, [started.port]);
    await lab().serve({ listeners: [listener, served], upstreams: [other] });
    const [one, two] = [await client(), await client()];
    for (const upstreams of [[other], [other, streamUpstream(A, [])]]) {
      await lab().serve({ upstreams });
      one.send('lost', port);
      // What was sent before has been handled when this is answered.
      expect(await ask(two, 'q', served.port)).to.equal('a:q');
    }
    await lab().serve({ upstreams: [other, streamUpstream(A, [started.port])] });
    expect(await ask(one, 'found')).to.equal('a:found');
  });

  it('closes the socket of a listener that is gone, with its sessions', async () => {
    const started = await origin('a');
    await lab().serve({ listeners: [listener], upstreams: [streamUpstream(A, [started.port])] });
    expect(await ask(await client(), 'q')).to.equal('a:q');
    await lab().serve({ listeners: [] });
    const holder: Socket = createSocket('udp4');
    cleanUp(() => holder.close());
    holder.bind(port, '127.0.0.1');
    await once(holder, 'listening');
    expect(lab().counts(listener).connectionsActive).to.equal(0);
  });
});
