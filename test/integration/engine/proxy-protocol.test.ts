import { expect } from 'chai';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import { ProxyHeaderReader } from '../../../src/engine/proxy-protocol/proxy-header-reader.js';
import type { Acceptor } from '../../../src/engine/wire/wire.js';
import { WIRES } from '../../support/engine/http1-lab.js';
import { RawClient } from '../../support/engine/raw-client.js';

/** Longer than any test takes: only the test of the time-out has one, so that a busy machine changes nothing. */
const NEVER_MS = 60_000;

for (const { name, make } of WIRES) {
  describe(`PROXY headers over the ${name} wire`, () => {
    const wheel = new TimerWheel(5);
    let acceptor: Acceptor;
    // Of the test that runs: its time for a header, and what its one connection comes to.
    let timeoutMs = NEVER_MS;
    let heard: Promise<string>;
    let tell: (what: string) => void;

    before(async () => {
      wheel.start();
      acceptor = await make(() => undefined).listen({
        address: '127.0.0.1',
        port: 0,
        backlog: 16,
        reusePort: false,
        accept: (connection) => {
          ProxyHeaderReader.read(connection, {
            wheel,
            timeoutMs,
            done: ({ source }, rest) => {
              tell(`${source?.address ?? '-'} ${rest.toString()}`);
              connection.destroy();
            },
            refused: tell,
          });
        },
      });
    });

    beforeEach(() => {
      timeoutMs = NEVER_MS;
      ({ promise: heard, resolve: tell } = Promise.withResolvers<string>());
    });

    after(async () => {
      wheel.stop();
      await acceptor.close();
    });

    for (const [title, pieces, want] of [
      ['in pieces', ['PROXY TCP4 1.2.3.4 ', '5.6.7.8 1 2\r\nGET'], '1.2.3.4 GET'],
      ['none', ['GET / HTTP/1.1\r\n'], 'the connection does not begin with a PROXY header'],
    ] as const) {
      it(title, async () => {
        const client = await RawClient.open(acceptor.port);
        for (const piece of pieces) {
          client.send(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(await heard).to.equal(want);
        await client.closed();
        client.destroy();
      });
    }

    it('half of one', async () => {
      timeoutMs = 60;
      const client = await RawClient.open(acceptor.port);
      client.send('PROXY TCP4');
      expect(await heard).to.equal('the PROXY header did not come in time');
      await client.closed();
      client.destroy();
    });

    it('a connection that ends first', async () => {
      const client = await RawClient.open(acceptor.port);
      client.send('PROXY').socket.end();
      expect(await heard).to.equal('the connection ended before its PROXY header');
      client.destroy();
    });
  });
}
