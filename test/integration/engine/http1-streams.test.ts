import { expect } from 'chai';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

/** Text in which every place is different enough to notice a shift. */
function pattern(length: number): string {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = 97 + ((i * 31 + (i >> 8)) % 26);
  return bytes.toString('latin1');
}

/** The text as chunks of many sizes, small and larger than any buffer. */
function chunked(text: string): string {
  let out = '';
  for (let at = 0, size = 1; at < text.length; at += size, size = (size * 7 + 13) % 200_000) {
    const part = text.slice(at, at + size);
    size = part.length;
    out += `${part.length.toString(16)}\r\n${part}\r\n`;
  }
  return out + '0\r\n\r\n';
}

function unchunked(text: string): string {
  let out = '';
  let at = 0;
  for (;;) {
    const end = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (size === 0) return out;
    out += text.slice(end + 2, end + 2 + size);
    at = end + 4 + size;
  }
}

labSuite('HTTP/1.1 streams', ({ startLab, answering, start }) => {
  const text = pattern(2_000_000);

  it('chunked down, in chunks of many sizes', async () => {
    const lab = await startLab();
    const origin = await answering(
      () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' + chunked(text),
    );
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n');
    // Read slowly at first, so that writes are kept by the wire.
    client.socket.pause();
    await until(() => origin.requests >= 1);
    client.socket.resume();
    expect((await client.response()).body === text).to.equal(true);
    expect((await client.response()).body === text).to.equal(true);
    client.destroy();
  });

  it('chunked up, in chunks of many sizes, twice on one connection', async () => {
    const lab = await startLab();
    const origin = await start((connection) => {
      connection.socket.on('data', () => {
        if (!connection.received.endsWith('\r\n0\r\n\r\n')) return;
        const body = connection.received.slice(connection.received.indexOf('\r\n\r\n') + 4);
        connection.send(ok(unchunked(body) === text ? 'same' : 'different'));
        connection.received = '';
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    for (let i = 0; i < 2; i++) {
      client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n' + chunked(text));
      expect((await client.response()).body).to.equal('same');
    }
    expect(origin.connections).to.have.length(1);
    client.destroy();
  });

  it('a body until close, to a client of HTTP/1.0', async () => {
    const lab = await startLab();
    const origin = await start((connection) => {
      connection.onRequest(() => {
        connection.send('HTTP/1.1 200 OK\r\n\r\n');
        connection.socket.end(Buffer.from(text, 'latin1'));
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send('GET / HTTP/1.0\r\n\r\n');
    expect((await client.response()).body === text).to.equal(true);
    client.destroy();
  });

  it('large heads in both directions', async () => {
    const lab = await startLab();
    const large = pattern(40_000);
    const origin = await answering(() => ok('body', `X-Large: ${large}\r\n`));
    lab.route('/', [origin.port]);
    const client = await lab.client();
    const response = await client.get('/', 'a', `X-Up: ${large}\r\n`);
    expect(response.field('x-large') === large).to.equal(true);
    expect(response.body).to.equal('body');
    expect(origin.received).to.contain(`X-Up: ${large}\r\n`);
    client.destroy();
  });

  it('many clients at once, each with its own bytes, some of which leave', async () => {
    const lab = await startLab();
    const origin = await answering((head) => {
      const id = head.split(' ')[1]!.slice(1);
      const body = `${id},`.repeat(20_000);
      return Number(id) % 2 === 0
        ? ok(body)
        : 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' + chunked(body);
    });
    lab.route('/', [origin.port]);
    await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const client = await lab.client();
        if (i % 6 === 5) {
          client.send(`GET /${String(i)} HTTP/1.1\r\nHost: a\r\n\r\n`);
          await client.until(() => client.received.length > 1000);
          client.destroy();
          return;
        }
        for (let round = 0; round < 3; round++) {
          const id = String(i + 100 * round);
          const { body } = await client.get(`/${id}`);
          expect(body === `${id},`.repeat(20_000), id).to.equal(true);
        }
        client.destroy();
      }),
    );
    await until(() => lab.records.length === 64);
    expect(lab.records.filter(({ termination }) => termination === 'upstream')).to.deep.equal([]);
  });
});
