import { expect } from 'chai';
import { WRITTEN, type FaultReport, type Wire } from '../../src/engine/wire/wire.js';
import { pattern, WireBench, type Probe } from './wire-probe.js';

/** What every wire must do with several writes of one turn of the event loop. */
export function wireBatchContract(name: string, create: (report: FaultReport) => Wire): void {
  describe(`${name} wire, writes of a turn`, () => {
    let bench: WireBench;

    beforeEach(() => {
      bench = new WireBench(create);
    });

    afterEach(async () => {
      await bench.close();
    });

    /** Two ends of one connection, both reading. */
    async function pair(): Promise<{ client: Probe; server: Probe }> {
      const { acceptor, next } = await bench.serve((probe, connection) => {
        probe.attach(connection, Buffer.alloc(64 * 1024));
      });
      const client = bench.connect(acceptor.port, Buffer.alloc(64 * 1024));
      const server = await next();
      await client.until(() => client.connected, 'connect');
      return { client, server };
    }

    it('keeps the order of small, large and constant writes of a turn', async () => {
      const { client, server } = await pair();
      const large = pattern(10_000, 1);
      const small = Buffer.from('small one, ');
      client.connection.write(small);
      small.fill(0);
      client.connection.writeConstant(Buffer.from('constant, '));
      client.connection.write(Buffer.from('another'));
      client.connection.write(large);
      client.connection.write(Buffer.from('last'));
      client.connection.end();
      await server.until(() => server.ended, 'end');
      expect(server.text.slice(0, 28)).to.equal('small one, constant, another');
      expect(server.received.subarray(28, 28 + large.length).equals(large)).to.equal(true);
      expect(server.text.slice(28 + large.length)).to.equal('last');
    });

    for (const method of ['destroy', 'close', 'end'] as const) {
      it(`delivers what was WRITTEN before ${method}`, async () => {
        const { client, server } = await pair();
        expect(client.connection.write(Buffer.from('fare'))).to.equal(WRITTEN);
        expect(client.connection.writeConstant(Buffer.from('well'))).to.equal(WRITTEN);
        client.connection[method]();
        await server.until(() => server.ended, 'end');
        expect(server.text).to.equal('farewell');
      });
    }

    it('writes to 300 connections within a turn, more than is kept at once', async () => {
      const pairs = await Promise.all(Array.from({ length: 300 }, () => pair()));
      for (const [i, { client }] of pairs.entries()) {
        expect(client.connection.write(pattern(1_000, i))).to.equal(WRITTEN);
      }
      for (const [i, { server }] of pairs.entries()) {
        await server.until(() => server.bytesReceived === 1_000, `bytes of ${String(i)}`);
        expect(server.received.equals(pattern(1_000, i))).to.equal(true);
      }
    });
  });
}
