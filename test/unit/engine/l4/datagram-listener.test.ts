import { expect } from 'chai';

import { DatagramListener } from '../../../../src/engine/l4/datagram-listener.js';
import { StreamDestination } from '../../../../src/engine/l4/stream-destination.js';
import { freePort } from '../../../support/free-port.js';
import { streamListener, streamUpstream } from '../../../support/engine/stream-lab.js';
import { StreamServices } from '../../../support/engine/stream-services.js';
import { UdpPeer } from '../../../support/engine/udp-peer.js';
import { until } from '../../../support/until.js';

const KEY = 'Service/ns/a/53/relay/udp';

describe('DatagramListener', () => {
  let services: StreamServices;
  let listener: DatagramListener;
  let origin: UdpPeer;
  let port: number;
  const peers: UdpPeer[] = [];

  beforeEach(async () => {
    services = new StreamServices();
    port = await freePort();
    origin = await UdpPeer.answering((datagram) => datagram);
    services.upstreams.apply([streamUpstream(KEY, [origin.port])], new Map());
    const destination = new StreamDestination({
      type: 'stream',
      backends: [{ weight: 1, upstream: KEY, filters: [] }],
    });
    listener = await DatagramListener.open(streamListener({ protocol: 'udp', port, servers: [] }), {
      wheel: services.wheel,
      counts: services.counts,
      upstreams: services.upstreams,
      destination: () => destination,
      reusePort: false,
      maxSessions: 3,
      onFault: (_listener, error) => services.faults.push(error),
    });
  });

  afterEach(async () => {
    await listener.close();
    for (const peer of peers.splice(0)) await peer.close();
    await origin.close();
    expect(services.faults).to.deep.equal([]);
    expect(services.opened).to.equal(services.closed);
  });

  async function client(): Promise<UdpPeer> {
    const peer = await UdpPeer.silent();
    peers.push(peer);
    return peer;
  }

  async function ask(peer: UdpPeer): Promise<void> {
    const { length } = peer.datagrams;
    peer.send('?', port);
    await until(() => peer.datagrams.length > length, 1);
  }

  /** Ports that the origin saw, which are the sessions. */
  const sessions = (): number => new Set(origin.datagrams.map(({ from }) => from)).size;

  it('ends a session that was quiet for a minute', async () => {
    const one = await client();
    await ask(one);
    services.pass(40_000);
    await ask(one);
    services.pass(40_000);
    expect(services.closed).to.equal(0);
    services.pass(21_000);
    expect(services.closed).to.equal(1);
    await ask(one);
    expect(services.opened).to.equal(2);
  });

  it('ends the quietest session when there are too many', async () => {
    const [a, b, c, d] = [await client(), await client(), await client(), await client()];
    for (const peer of [a, b, c, a, d]) await ask(peer);
    expect([services.opened, services.closed]).to.deep.equal([4, 1]);
    await ask(a);
    expect(sessions()).to.equal(4);
    await ask(b);
    expect([services.opened, services.closed]).to.deep.equal([5, 2]);
  });

  it('ends a session whose endpoint cannot be sent to', async () => {
    // The system refuses to connect to the address of a broadcast.
    const nowhere = { address: '255.255.255.255', port: 9 };
    services.upstreams.apply([streamUpstream(KEY, [nowhere])], new Map());
    const one = await client();
    one.send('?', port);
    await until(() => services.closed === 1);
    services.upstreams.apply([streamUpstream(KEY, [origin.port])], new Map());
    await ask(one);
  });

  it('rejects with the code of the system when the port is taken', async () => {
    const taken = streamListener({ protocol: 'udp', port, servers: [] });
    const error: unknown = await DatagramListener.open(taken, {
      wheel: services.wheel,
      counts: services.counts,
      upstreams: services.upstreams,
      destination: () => undefined,
      reusePort: false,
      onFault: () => undefined,
    }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'EADDRINUSE');
  });

  it('cuts neither end off when an endpoint goes: the next datagram finds another', async () => {
    const one = await client();
    await ask(one);
    const other = await UdpPeer.answering(() => Buffer.from('other'));
    peers.push(other);
    services.upstreams.apply([streamUpstream(KEY, [other.port])], new Map());
    expect(services.closed).to.equal(1);
    await ask(one);
    expect(one.datagrams.at(-1)!.bytes.toString()).to.equal('other');
  });
});
