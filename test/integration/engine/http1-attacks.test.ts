import { expect } from 'chai';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

labSuite('HTTP/1.1 against attackers', ({ answering, start, startLab }) => {
  describe('H-01 ambiguous requests', () => {
    const attacks: readonly (readonly [string, string, number])[] = [
      ['CL and TE', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['two CL', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 44\r\n\r\nabcdGET /evil HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['bare LF', 'GET / HTTP/1.1\nHost: a\n\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['chunk size with a sign', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+4\r\nabcd\r\n0\r\n\r\n', 400],
      ['chunk size of 20 digits', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000000004\r\nabcd\r\n0\r\n\r\n', 400],
      ['LF in a chunk extension', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4;a\nb\r\nabcd\r\n0\r\n\r\n', 400],
      ['HTTP/2 without a taker', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
      ['TLS on a clear port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ]; // prettier-ignore
    for (const [title, bytes, status] of attacks) {
      it(`${title}: ${String(status)}, close, and nothing reaches a backend`, async () => {
        const lab = await startLab();
        const origin = await answering(() => ok('fine'));
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send(bytes);
        const response = await client.response();
        expect(response.status).to.equal(status);
        expect(response.field('connection')).to.equal('close');
        await client.closed();
        expect(client.text).to.equal('');
        expect(origin.received).to.equal('');
        expect(lab.refused.map((refused) => refused.status)).to.deep.equal([status]);
        const canary = await lab.client();
        expect((await canary.get('/canary')).body).to.equal('fine');
        canary.destroy();
        client.destroy();
      });
    }

    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      it(`CVE-2026-29057 ${method} with a chunked body is framed for the backend`, async () => {
        const lab = await startLab();
        const origin = await start((connection) => {
          connection.socket.on('data', () => {
            if (connection.received.endsWith('0\r\n\r\n')) connection.send(ok('one'));
          });
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send(`${method} / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
        client.send('1f\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n\r\n0\r\n\r\n');
        expect((await client.response()).body).to.equal('one');
        expect(origin.received).to.contain('transfer-encoding: chunked\r\n');
        expect(origin.received).not.to.match(/content-length/i);
        client.destroy();
      });
    }

    it('a chunk that breaks within the body: 400 and the request to the backend is aborted', async () => {
      const lab = await startLab();
      const origin = await start((connection) => {
        connection.onRequest(() => undefined);
      });
      lab.route('/', [origin.port]);
      const client = await lab.client();
      client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n');
      await until(() => origin.received.includes('abcd'));
      client.send('zz\r\n');
      expect((await client.response()).status).to.equal(400);
      await until(() => origin.connections[0]!.closed);
      expect(origin.received).not.to.match(/0\r\n\r\n$/);
      await client.closed();
      client.destroy();
    });
  });
});
