import { once } from 'node:events';
import * as http2 from 'node:http2';
import { createSecureContext } from 'node:tls';
import { expect } from 'chai';
import { HandleWire } from '../../../../src/engine/wire/handle-wire.js';
import type { ClientTlsOptions, ServerTlsOptions } from '../../../../src/engine/wire/wire.js';
import { TestAuthority } from '../../../support/certificates.js';
import { Http2Bench, portOf } from '../../../support/engine/http2-bench.js';
import { RelayRunner } from '../../../support/engine/relay-runner.js';
import { until } from '../../../support/until.js';

const authority = new TestAuthority();
const certificate = authority.server(['localhost']);
const identity = { cert: certificate.certificate, key: certificate.privateKey };
const serverTls: ServerTlsOptions = {
  context: createSecureContext(identity),
  alpn: ['h2'],
  clientCertificate: 'none',
};
const clientTls: ClientTlsOptions = {
  context: createSecureContext({ ca: authority.certificate }),
  serverName: 'localhost',
  alpn: ['h2'],
  sessionKey: 'test',
};

/** Bytes that differ from place to place. */
function patternOf(length: number, seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + seed) & 0xff;
  return bytes;
}

async function bodyOf(stream: http2.ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

for (const { name, secure, handle } of [
  { name: 'h2c over the net wire', secure: false, handle: false },
  { name: 'h2 over TLS, handle wire', secure: true, handle: true },
]) {
  describe(`HTTP/2 relay, ${name}`, () => {
    let bench: Http2Bench;
    let server: http2.Http2Server | http2.Http2SecureServer;
    let client: http2.ClientHttp2Session;
    let relay: RelayRunner;
    let onStream: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

    beforeEach(async () => {
      const faults: unknown[] = [];
      bench = new Http2Bench(handle ? new HandleWire((fault) => faults.push(fault.error)) : undefined);
      server = secure ? http2.createSecureServer(identity) : http2.createServer();
      server.on('stream', (stream, headers) => {
        stream.on('error', () => undefined);
        onStream(stream, headers);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      relay = new RelayRunner(bench.connector(portOf(server), {}, secure ? clientTls : undefined));
      const port = await bench.serve(relay, {}, {}, secure ? serverTls : undefined);
      client = http2.connect(
        `${secure ? 'https' : 'http'}://localhost:${port}`,
        secure ? { ca: authority.certificate } : {},
      );
      client.on('error', () => undefined);
    });

    afterEach(async () => {
      client.destroy();
      server.close();
      await bench.close();
    });

    it('carries head, body and trailers both ways', async () => {
      const seen: http2.IncomingHttpHeaders[] = [];
      onStream = (stream, headers) => {
        seen.push(headers);
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('trailers', (trailers: http2.IncomingHttpHeaders) => seen.push(trailers));
        stream.on('end', () => {
          stream.respond({ ':status': 201, 'x-answer': 'yes' }, { waitForTrailers: true });
          stream.on('wantTrailers', () => {
            stream.sendTrailers({ 'x-sum': String(Buffer.concat(chunks).length) });
          });
          stream.end(Buffer.concat(chunks));
        });
      };
      const request = client.request(
        { ':method': 'POST', ':path': '/a?b', 'x-ask': 'why', te: 'trailers' },
        { waitForTrailers: true },
      );
      request.on('wantTrailers', () => {
        request.sendTrailers({ 'x-mine': 'too' });
      });
      const trailers = once(request, 'trailers') as Promise<[http2.IncomingHttpHeaders]>;
      request.end('hello');
      const [head] = (await once(request, 'response')) as [http2.IncomingHttpHeaders];
      expect(head[':status']).to.equal(201);
      expect(head['x-answer']).to.equal('yes');
      expect((await bodyOf(request)).toString()).to.equal('hello');
      expect((await trailers)[0]['x-sum']).to.equal('5');
      expect(seen[0]).to.include({ ':method': 'POST', ':path': '/a?b', 'x-ask': 'why', te: 'trailers' });
      expect(seen[1]?.['x-mine']).to.equal('too');
    });

    it('carries large bodies of several streams at once without mixing a byte', async () => {
      onStream = (stream) => {
        stream.respond({ ':status': 200 });
        stream.pipe(stream);
      };
      const lengths = [3_000_000, 1, 65_535, 65_536, 1_500_001, 16_384];
      const echoed = await Promise.all(
        lengths.map(async (length, i) => {
          const request = client.request({ ':method': 'POST', ':path': `/${i}` });
          request.end(patternOf(length, i));
          return bodyOf(request);
        }),
      );
      for (const [i, length] of lengths.entries()) {
        expect(echoed[i]?.equals(patternOf(length, i)), `stream ${i}`).to.equal(true);
      }
    });

    it('holds the backend back while the client does not read, and loses nothing', async () => {
      const length = 8_000_000;
      let written = 0;
      onStream = (stream) => {
        stream.respond({ ':status': 200 });
        const body = patternOf(length, 9);
        const push = (): void => {
          while (written < length) {
            const next = Math.min(length, written + 65_536);
            const more = stream.write(body.subarray(written, next));
            written = next;
            if (!more) {
              stream.once('drain', push);
              return;
            }
          }
          stream.end();
        };
        push();
      };
      const request = client.request({ ':path': '/slow' });
      request.pause();
      await once(request, 'response');
      let before = -1;
      await until(() => {
        const stable = before === written;
        before = written;
        return stable;
      }, 100);
      expect(written).to.be.lessThan(6_000_000);
      expect((await bodyOf(request)).equals(patternOf(length, 9))).to.equal(true);
    });

    it('resets the upstream stream when the client resets its own', async () => {
      let closed: Promise<unknown> | undefined;
      onStream = (stream) => {
        closed = once(stream, 'close');
        stream.respond({ ':status': 200 });
        stream.write('x');
      };
      const request = client.request({ ':path': '/' });
      request.on('error', () => undefined);
      await once(request, 'data');
      request.close(http2.constants.NGHTTP2_CANCEL);
      await closed;
      expect(relay.exchanges[0]?.aborted).to.contain('8');
    });

    it('resets the client stream when the backend breaks off within the body', async () => {
      onStream = (stream) => {
        stream.respond({ ':status': 200 });
        stream.write('part');
        setImmediate(() => {
          stream.destroy(new Error('broken'));
        });
      };
      const request = client.request({ ':path': '/' });
      const [error] = (await once(request.resume(), 'error')) as [NodeJS.ErrnoException];
      expect(error.code).to.equal('ERR_HTTP2_STREAM_ERROR');
      expect(relay.exchanges[0]?.failures[0]?.kind).to.be.oneOf(['truncated', 'early']);
    });

    it('passes 103 on and answers 100-continue itself', async () => {
      onStream = (stream, headers) => {
        expect(headers.expect).to.equal(undefined);
        stream.additionalHeaders({ ':status': 103, link: '</a>; rel=preload' });
        stream.on('end', () => {
          stream.respond({ ':status': 200 });
          stream.end('ok');
        });
        stream.resume();
      };
      const request = client.request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
      const interim: (number | undefined)[] = [];
      request.on('headers', (headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader) => {
        interim.push(headers[':status']);
      });
      await once(request, 'continue');
      request.end('body');
      expect((await bodyOf(request)).toString()).to.equal('ok');
      expect(interim).to.have.members([100, 103]);
    });

    it('sends no body for HEAD, and takes 304 with a content-length', async () => {
      onStream = (stream, headers) => {
        if (headers[':method'] === 'HEAD')
          stream.respond({ ':status': 200, 'content-length': 7 }, { endStream: true });
        else stream.respond({ ':status': 304, 'content-length': 7 }, { endStream: true });
      };
      for (const [method, status] of [
        ['HEAD', 200],
        ['GET', 304],
      ] as const) {
        const request = client.request({ ':method': method, ':path': '/' });
        const [head] = (await once(request, 'response')) as [http2.IncomingHttpHeaders];
        expect(head[':status']).to.equal(status);
        expect(head['content-length']).to.equal('7');
        expect((await bodyOf(request)).length).to.equal(0);
      }
    });

    it('uses one upstream connection for requests that follow each other', async () => {
      const sessions = new Set<unknown>();
      onStream = (stream) => {
        sessions.add(stream.session);
        stream.respond({ ':status': 200 });
        stream.end();
      };
      for (let i = 0; i < 20; i++) await bodyOf(client.request({ ':path': `/${i}` }));
      expect(sessions.size).to.equal(1);
      expect(relay.connector.active).to.equal(0);
    });
  });
}
