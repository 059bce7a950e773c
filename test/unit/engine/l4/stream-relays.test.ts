import { expect } from 'chai';

import { StreamDestination } from '../../../../src/engine/l4/stream-destination.js';
import { StreamRelays } from '../../../../src/engine/l4/stream-relays.js';
import type { Acceptor } from '../../../../src/engine/wire/wire.js';
import { streamUpstream } from '../../../support/engine/stream-lab.js';
import { echo, StreamOrigin, StreamPeer } from '../../../support/engine/stream-peer.js';
import { StreamServices } from '../../../support/engine/stream-services.js';
import { until } from '../../../support/until.js';

const KEY = 'Service/ns/a/80/relay';

describe('StreamRelays', () => {
  let services: StreamServices;
  let relays: StreamRelays;
  let acceptor: Acceptor;
  let origin: StreamOrigin;
  let client: StreamPeer;

  beforeEach(async () => {
    services = new StreamServices();
    relays = new StreamRelays(services);
    origin = await StreamOrigin.start(echo('hi'));
    services.upstreams.apply([streamUpstream(KEY, [origin.port])], new Map());
    const destination = new StreamDestination({
      type: 'stream',
      backends: [{ weight: 1, upstream: KEY, filters: [] }],
    });
    acceptor = await services.wire.listen({
      address: '127.0.0.1',
      port: 0,
      backlog: 16,
      reusePort: false,
      accept: (connection) => {
        relays.relay(connection, 'tcp/x:1', destination, Buffer.alloc(0));
      },
    });
    client = StreamPeer.connect(acceptor.port);
    await client.hears('hi');
  });

  afterEach(async () => {
    relays.close();
    client.socket.destroy();
    await acceptor.close();
    await origin.stop();
    expect(services.faults).to.deep.equal([]);
  });

  async function answers(): Promise<void> {
    const { text } = client;
    client.socket.write('?');
    await client.hears(`${text}?`);
  }

  it('N-07 ends a relay a minute after its endpoint was removed', async () => {
    services.upstreams.apply([streamUpstream(KEY, [])], new Map());
    services.pass(59_000);
    await answers();
    services.pass(2_000);
    await until(() => client.closed);
    expect(client.error?.code).to.equal('ECONNRESET');
    await until(() => relays.size === 0);
    expect([services.opened, services.closed]).to.deep.equal([1, 1]);
  });

  it('N-07 an endpoint that comes back keeps its relays', async () => {
    services.upstreams.apply([streamUpstream(KEY, [])], new Map());
    services.pass(30_000);
    services.upstreams.apply([streamUpstream(KEY, [origin.port])], new Map());
    services.pass(120_000);
    await answers();
  });

  it('has no idle timeout', async () => {
    services.pass(24 * 3_600_000);
    await answers();
  });

  it('N-07 an upstream that is gone lets its relays go on for a minute', async () => {
    services.upstreams.apply([], new Map());
    await answers();
    services.pass(61_000);
    await until(() => client.closed);
  });

  it('ends everything at once when it is closed', async () => {
    expect(relays.size).to.equal(1);
    relays.close();
    await until(() => client.closed && relays.size === 0);
  });
});
