import { once } from 'node:events';
import * as http2 from 'node:http2';
import { expect } from 'chai';
import { Http2Bench, portOf } from '../../../support/engine/http2-bench.js';
import { RelayRunner } from '../../../support/engine/relay-runner.js';

describe('WebSocket over HTTP/2 (RFC 8441)', () => {
  let bench: Http2Bench;
  let server: http2.Http2Server;
  let client: http2.ClientHttp2Session;

  beforeEach(async () => {
    bench = new Http2Bench();
    server = http2.createServer({ settings: { enableConnectProtocol: true } });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = await bench.serve(new RelayRunner(bench.connector(portOf(server))));
    client = http2.connect(`http://127.0.0.1:${port}`);
    await once(client, 'remoteSettings');
  });

  afterEach(async () => {
    client.destroy();
    server.close();
    await bench.close();
  });

  function connect(): http2.ClientHttp2Stream {
    return client.request(
      { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat', 'sec-websocket-version': '13' },
      { endStream: false },
    );
  }

  it('is offered', () => {
    expect(client.remoteSettings.enableConnectProtocol).to.equal(true);
  });

  it('relays both directions, also what the client sends before the answer, and half-closes', async () => {
    server.on('stream', (stream, headers) => {
      expect(headers).to.include({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat' });
      expect(headers['sec-websocket-key']).to.equal(undefined);
      stream.respond({ ':status': 200 });
      stream.on('data', (chunk: Buffer) => stream.write(`<${chunk.toString()}>`));
      stream.on('end', () => stream.end('bye'));
    });
    const tunnel = connect();
    tunnel.write('early');
    let heard = '';
    tunnel.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (heard === '<early>') tunnel.end('late');
    });
    const [head] = (await once(tunnel, 'response')) as [http2.IncomingHttpHeaders];
    expect(head[':status']).to.equal(200);
    await once(tunnel, 'end');
    expect(heard).to.equal('<early><late>bye');
  });

  it('relays an answer that refuses the tunnel as an ordinary response', async () => {
    server.on('stream', (stream) => {
      stream.respond({ ':status': 403 });
      stream.end('no');
    });
    const tunnel = connect();
    const [head] = (await once(tunnel, 'response')) as [http2.IncomingHttpHeaders];
    expect(head[':status']).to.equal(403);
    let heard = '';
    tunnel.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    await once(tunnel, 'end');
    expect(heard).to.equal('no');
  });
});
