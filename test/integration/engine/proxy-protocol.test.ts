import { expect } from 'chai';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import { ProxyHeaderReader } from '../../../src/engine/proxy-protocol/proxy-header-reader.js';
import type { Acceptor } from '../../../src/engine/wire/wire.js';
import { WIRES } from '../../support/engine/http1-lab.js';
import { RawClient } from '../../support/engine/raw-client.js';
import { until } from '../../support/until.js';

for (const { name, make } of WIRES) {
  describe(`PROXY headers over the ${name} wire`, () => {
    const wheel = new TimerWheel(5);
    const heard: string[] = [];
    let acceptor: Acceptor;

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
            timeoutMs: 60,
            done: ({ source }, rest) => {
              heard.push(`${source?.address ?? '-'} ${rest.toString()}`);
              connection.destroy();
            },
            refused: (problem) => heard.push(problem),
          });
        },
      });
    });

    after(async () => {
      wheel.stop();
      await acceptor.close();
    });

    for (const [title, pieces, want] of [
      ['in pieces', ['PROXY TCP4 1.2.3.4 ', '5.6.7.8 1 2\r\nGET'], '1.2.3.4 GET'],
      ['none', ['GET / HTTP/1.1\r\n'], 'the connection does not begin with a PROXY header'],
      ['half of one', ['PROXY TCP4'], 'the PROXY header did not come in time'],
    ] as const) {
      it(title, async () => {
        heard.length = 0;
        const client = await RawClient.open(acceptor.port);
        for (const piece of pieces) {
          client.send(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await client.closed();
        await until(() => heard.length === 1);
        expect(heard).to.deep.equal([want]);
        client.destroy();
      });
    }

    it('a connection that ends first', async () => {
      heard.length = 0;
      const client = await RawClient.open(acceptor.port);
      client.send('PROXY').socket.end();
      await until(() => heard.length === 1);
      expect(heard).to.deep.equal(['the connection ended before its PROXY header']);
      client.destroy();
    });
  });
}
