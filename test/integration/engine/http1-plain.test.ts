import { expect } from 'chai';
import { DOWNSTREAM_CONNECTIONS_ACTIVE } from '../../../src/telemetry/engine-counters.js';
import type { Http1Lab } from '../../support/engine/http1-lab.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import { until } from '../../support/until.js';
import { ok, type RawOrigin } from '../../support/engine/raw-origin.js';

labSuite('HTTP/1.1 proxying', (suite) => {
  let lab: Http1Lab;
  beforeEach(async () => {
    lab = await suite.startLab();
  });

  async function answering(answer: Parameters<typeof suite.answering>[0]): Promise<RawOrigin> {
    const origin = await suite.answering(answer);
    lab.route('/', [origin.port]);
    return origin;
  }

  it('forwards a request and its response, and keeps both connections', async () => {
    const origin = await answering((head) => ok(`answer to ${head.split(' ')[1]!}`, 'X-Origin: yes\r\n'));
    const client = await lab.client();
    const first = await client.get('/one?a=b', 'App.Test:8080', 'X-Client: yes\r\n');
    expect(first.status).to.equal(200);
    expect(first.body).to.equal('answer to /one?a=b');
    expect(first.field('x-origin')).to.equal('yes');
    expect(first.field('via')).to.equal('1.1 trickster-gateway');
    expect(first.field('date')).to.be.a('string');
    expect((await client.get('/two')).body).to.equal('answer to /two');
    expect(origin.connections.length).to.equal(1);
    expect(origin.received).to.match(
      /^GET \/one\?a=b HTTP\/1\.1\r\nHost: App\.Test:8080\r\nX-Client: yes\r\n/,
    );
    expect(origin.received).to.contain('\r\nx-forwarded-for: 127.0.0.1\r\nx-forwarded-proto: http\r\n');
    expect(lab.records.map(({ path, status, termination }) => [path, status, termination])).to.deep.equal([
      ['/one?a=b', 200, 'complete'],
      ['/two', 200, 'complete'],
    ]);
    client.destroy();
  });

  it('answers 404 where nothing matches, 500 and 503 where the rule says so', async () => {
    lab.rule('/none', {});
    lab.rule('/refused', { refusal: { status: 500, reason: 'r' } });
    lab.route('/empty', []);
    const client = await lab.client();
    expect((await client.get('/nowhere')).status).to.equal(404);
    expect((await client.get('/none')).status).to.equal(500);
    expect((await client.get('/refused')).status).to.equal(500);
    const empty = await client.get('/empty');
    expect(empty.status).to.equal(503);
    expect(empty.body).to.equal('503 Service Unavailable\n');
    client.destroy();
  });

  it('forwards sized and chunked request bodies', async () => {
    const origin = await suite.start((connection) => {
      connection.socket.on('data', () => {
        if (/hello$|x-sum: 1\r\n\r\n$/i.test(connection.received)) connection.send(ok('thanks'));
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello');
    expect((await client.response()).body).to.equal('thanks');
    client.send('POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhel');
    await until(() => origin.received.endsWith('3\r\nhel\r\n'));
    client.send('lo\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n');
    expect((await client.response()).body).to.equal('thanks');
    expect(origin.received).to.contain('\r\nContent-Length: 5\r\n');
    expect(origin.received).to.match(
      /transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n8\r\nlo world\r\n0\r\nx-sum: 1\r\n\r\n$/,
    );
    expect(lab.records.map(({ requestBytes }) => requestBytes)).to.deep.equal([5, 11]);
    expect(origin.connections.length).to.equal(1);
    client.destroy();
  });

  it('takes chunked, close-delimited and empty responses', async () => {
    await answering((head, _index, connection) => {
      if (head.includes('/chunked')) {
        return 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x\r\ndefg\r\n0\r\nX-T: 1\r\n\r\n';
      }
      if (head.includes('/nothing')) return 'HTTP/1.1 204 No Content\r\n\r\n';
      if (head.includes('/same')) return 'HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n';
      setImmediate(() => connection.socket.end('rest'));
      return 'HTTP/1.1 200 OK\r\n\r\nstart ';
    });
    const client = await lab.client();
    const chunked = await client.get('/chunked');
    expect(chunked.body).to.equal('abcdefg');
    expect(client.trailers).to.equal('x-t: 1\r\n\r\n');
    expect((await client.get('/nothing')).status).to.equal(204);
    const same = await client.get('/same');
    expect(same.field('content-length')).to.equal('10');
    const closed = await client.get('/close');
    expect(closed.body).to.equal('start rest');
    expect(closed.field('transfer-encoding')).to.equal('chunked');
    client.destroy();
  });

  it('speaks HTTP/1.0 to clients that do', async () => {
    await answering(() => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
    const old = await lab.client();
    const response = await old.send('GET / HTTP/1.0\r\n\r\n').response();
    expect(response.body).to.equal('abc');
    expect(response.field('connection')).to.equal('close');
    await old.closed();
    const keeping = await lab.client();
    keeping.send('GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n');
    // The length of the whole body is known by then, or the connection closes.
    expect((await keeping.response()).body).to.equal('abc');
    keeping.destroy();
  });

  it('closes at once when the client sends nothing more, and otherwise lets it read first', async () => {
    const origin = await answering(() => ok('x'.repeat(300_000)));
    const active = (): number => lab.counters[DOWNSTREAM_CONNECTIONS_ACTIVE] ?? 0;
    for (const request of [
      'GET / HTTP/1.0\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    ]) {
      const leaving = await lab.client();
      expect((await leaving.send(request).response()).body.length).to.equal(300_000);
      await until(() => active() === 0);
      await leaving.closed();
      expect(leaving.error).to.equal(undefined);
      leaving.destroy();
    }
    const posting = await lab.client();
    posting.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx');
    expect((await posting.response()).status).to.equal(200);
    await posting.closed();
    // As some clients do behind a body.
    posting.send('\r\n');
    expect((await lab.client().then((other) => other.get('/'))).status).to.equal(200);
    expect([active() > 1, posting.error]).to.deep.equal([true, undefined]);
    posting.destroy();
    expect(origin.received.match(/POST/g)).to.have.length(1);
  });

  it('answers HEAD without a body and goes on', async () => {
    await answering((head) =>
      head.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n' : ok('body'),
    );
    const client = await lab.client();
    client.send('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n');
    const head = await client.response(true);
    expect(head.field('content-length')).to.equal('1000');
    expect((await client.get('/')).body).to.equal('body');
    client.destroy();
  });

  it('answers pipelined requests in order, one at a time', async () => {
    const origin = await answering((head) => ok(head.split(' ')[1]!));
    const client = await lab.client();
    client.send(
      ['/1', '/2', '/missing-host'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
    );
    expect((await client.response()).body).to.equal('/1');
    expect((await client.response()).body).to.equal('/2');
    expect((await client.response()).body).to.equal('/missing-host');
    expect(origin.connections.length).to.be.lessThan(4);
    client.destroy();
  });

  it('streams a large body down unchanged', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefghij').toString('latin1');
    await answering(() => ok(body));
    const client = await lab.client();
    const response = await client.get('/large');
    expect(response.body === body).to.equal(true);
    client.destroy();
  });

  it('streams a large body up unchanged', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefghij').toString('latin1');
    const origin = await suite.start((connection) => {
      connection.socket.on('data', () => {
        if (connection.received.endsWith('THE END')) connection.send(ok('got it'));
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(body.length + 7)}\r\n\r\n${body}THE END`,
    );
    expect((await client.response()).body).to.equal('got it');
    expect(origin.received.endsWith(`\r\n\r\n${body}THE END`)).to.equal(true);
    client.destroy();
  });
});
