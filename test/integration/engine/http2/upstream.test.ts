import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import * as counter from '../../../../src/telemetry/engine-counters.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import type { Http2Connector } from '../../../../src/engine/http2/connector.js';
import * as frame from '../../../../src/engine/http2/frame.js';
import { PENDING } from '../../../../src/engine/wire/wire.js';
import { TestAuthority } from '../../../support/certificates.js';
import { Http2Bench, portOf } from '../../../support/engine/http2-bench.js';
import { frameOf, RawPeer, settingsOf, uint32 } from '../../../support/engine/raw-http2.js';
import { UpstreamRecorder } from '../../../support/engine/upstream-recorder.js';
import { until } from '../../../support/until.js';

const POST = { method: 'POST', contentLength: -1 } as const;

describe('HTTP/2 backend connection', () => {
  let bench: Http2Bench;
  let server: Server;
  let peers: RawPeer[];
  let connector: Http2Connector;
  /** What a new connection is greeted with; undefined says nothing. */
  let greeting: Buffer | undefined;

  beforeEach(async () => {
    bench = new Http2Bench();
    peers = [];
    greeting = Buffer.concat([settingsOf(), frameOf(frame.SETTINGS, frame.FLAG_ACK, 0)]);
    server = createServer((socket) => {
      const peer = new RawPeer(socket, true);
      if (greeting) peer.send(greeting);
      peers.push(peer);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    connector = bench.connector(portOf(server), {
      limits: { headMs: 300, idleMs: 300, writeMs: 300, quietMs: 100 },
    });
  });

  afterEach(async () => {
    for (const peer of peers) peer.socket.destroy();
    server.close();
    await bench.close();
  });

  /** The peer of connection `index`, once stream `id` has been asked for. */
  async function asked(id: number, index = 0): Promise<RawPeer> {
    await until(() => (peers[index]?.of(frame.HEADERS, id).length ?? 0) > 0, 1);
    return peers[index]!;
  }

  it('sends a request and hears the whole response', async () => {
    const call = new UpstreamRecorder(
      connector,
      { ...POST, path: '/x', acceptsTrailers: true },
      Buffer.from('ask'),
    );
    const peer = await asked(1);
    expect((await peer.body(1)).toString()).to.equal('ask');
    const sent = await peer.head(1);
    expect(sent).to.deep.equal([
      ':method', 'POST', ':scheme', 'http', ':authority', 'a.test', ':path', '/x', 'te', 'trailers',
    ]); // prettier-ignore
    peer.send(
      peer.headers(1, [':status', '100'], false),
      peer.headers(1, [':status', '103', 'link', 'x'], false),
    );
    peer.send(peer.headers(1, [':status', '200', 'x-a', 'b'], false), peer.data(1, 'answer', false));
    peer.send(peer.headers(1, ['grpc-status', '0']));
    await call.over();
    expect(call).to.include({ status: 200, body: 'answer', failure: undefined });
    expect(call.informational).to.deep.equal([103]);
    expect(call.fields).to.deep.equal(['x-a', 'b']);
    expect(call.trailers).to.deep.equal(['grpc-status', '0']);
    expect(connector.active).to.equal(0);
  });

  const malformed: readonly (readonly [string, readonly string[], boolean])[] = [
    ['no status', ['x-a', 'b'], true],
    ['a status of letters', [':status', 'abc'], true],
    ['status 101', [':status', '101'], false],
    ['an interim head that ends', [':status', '103'], true],
    ['a connection field', [':status', '200', 'connection', 'close'], true],
    ['a request pseudo-header', [':status', '200', ':path', '/'], true],
    ['two content-lengths', [':status', '200', 'content-length', '0', 'content-length', '0'], true],
    ['a content-length without body', [':status', '200', 'content-length', '5'], true],
    ['capitals in a name', [':status', '200', 'X-A', 'b'], true],
  ];
  for (const [what, fields, ends] of malformed) {
    it(`gives up a response with ${what}`, async () => {
      const call = new UpstreamRecorder(connector);
      const peer = await asked(1);
      peer.send(peer.headers(1, fields, ends));
      await call.over();
      expect(call.failure?.kind).to.equal('protocol');
      expect(await peer.reset(1)).to.equal(frame.PROTOCOL_ERROR);
    });
  }

  it('gives up a body that is longer or shorter than promised', async () => {
    for (const [id, body] of [
      [1, 'abcd'],
      [3, 'ab'],
    ] as const) {
      const call = new UpstreamRecorder(connector);
      const peer = await asked(id);
      peer.send(peer.headers(id, [':status', '200', 'content-length', '3'], false), peer.data(id, body));
      await call.over();
      expect(call.failure?.kind).to.equal('protocol');
    }
  });

  it('takes the length of a body that HEAD and 304 only speak of', async () => {
    const head = new UpstreamRecorder(connector, { method: 'HEAD' });
    const cached = new UpstreamRecorder(connector);
    const peer = await asked(3);
    peer.send(peer.headers(1, [':status', '200', 'content-length', '5']));
    peer.send(peer.headers(3, [':status', '304', 'content-length', '5'], false), peer.data(3, ''));
    await Promise.all([head.over(), cached.over()]);
    expect([head.failure, cached.failure]).to.deep.equal([undefined, undefined]);
  });

  it('begins a refused request again, whatever its method and with its body', async () => {
    const call = new UpstreamRecorder(connector, POST);
    call.send('one ');
    const peer = await asked(1);
    call.send('two', true);
    await peer.body(1);
    peer.send(frameOf(frame.RST_STREAM, 0, 1, uint32(frame.REFUSED_STREAM)));
    await asked(3);
    expect((await peer.body(3)).toString()).to.equal('one two');
    peer.send(peer.headers(3, [':status', '200']));
    await call.over();
    expect(call.status).to.equal(200);
  });

  it('gives up a request that is refused again and again', async () => {
    const call = new UpstreamRecorder(connector);
    for (const id of [1, 3, 5]) {
      const peer = await asked(id);
      peer.send(frameOf(frame.RST_STREAM, 0, id, uint32(frame.REFUSED_STREAM)));
    }
    await call.over();
    expect(call.failure?.kind).to.equal('connect');
    expect(connector.active).to.equal(0);
  });

  it('begins on a new connection what the backend has not acted on before GOAWAY, and ends the rest here', async () => {
    const first = new UpstreamRecorder(connector);
    const second = new UpstreamRecorder(connector, POST, Buffer.from('body'));
    const peer = await asked(3);
    peer.send(frameOf(frame.GOAWAY, 0, 0, Buffer.concat([uint32(1), uint32(0)])));
    const other = await asked(1, 1);
    expect((await other.body(1)).toString()).to.equal('body');
    other.send(other.headers(1, [':status', '201']));
    peer.send(peer.headers(1, [':status', '200']));
    await Promise.all([first.over(), second.over()]);
    expect([first.status, second.status]).to.deep.equal([200, 201]);
    await until(() => peer.closed);
  });

  it('says how a connection ended: early, truncated, not made', async () => {
    const early = new UpstreamRecorder(connector);
    (await asked(1)).socket.destroy();
    expect((await early.over()).failure?.kind).to.equal('early');
    expect(early.stream.reused).to.equal(false);
    const cut = new UpstreamRecorder(connector);
    const peer = await asked(1, 1);
    peer.send(peer.headers(1, [':status', '200'], false), peer.data(1, 'par', false));
    await until(() => cut.status === 200);
    const reused = new UpstreamRecorder(connector);
    expect(reused.stream.reused).to.equal(true);
    await asked(3, 1);
    peer.socket.destroy();
    expect((await cut.over()).failure?.kind).to.equal('truncated');
    expect((await reused.over()).failure?.kind).to.equal('early');
    server.close();
    const refused = new UpstreamRecorder(connector);
    expect((await refused.over()).failure).to.deep.equal({ kind: 'connect', detail: 'ECONNREFUSED' });
    expect(bench.counters[counter.UPSTREAM_CONNECT_FAILURES]).to.equal(1);
    expect(bench.counters[counter.UPSTREAM_CONNECTIONS_ACTIVE]).to.equal(0);
  });

  it('opens no more streams than the backend allows, and the rest when there is room', async () => {
    greeting = settingsOf([frame.SETTINGS_MAX_CONCURRENT_STREAMS, 1]);
    const single = bench.connector(portOf(server), { maxConnections: 1 });
    const first = new UpstreamRecorder(single);
    const peer = await asked(1);
    await peer.until((seen) => seen.of(frame.SETTINGS).length > 1);
    const second = new UpstreamRecorder(single, POST, Buffer.from('later'));
    const third = new UpstreamRecorder(single);
    third.stream.abort();
    peer.send(frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
    await peer.until((seen) => seen.of(frame.PING).length > 0);
    expect(peer.of(frame.HEADERS)).to.have.length(1);
    peer.send(peer.headers(1, [':status', '200']));
    await asked(3);
    expect((await peer.body(3)).toString()).to.equal('later');
    peer.send(peer.headers(3, [':status', '201']));
    await Promise.all([first.over(), second.over()]);
    expect(second.status).to.equal(201);
    expect(single.active).to.equal(0);
    expect(third).to.include({ failure: undefined, ended: false });
  });

  it('opens another connection when one is busy, up to its limit', async () => {
    const few = bench.connector(portOf(server), { maxConnections: 2 });
    const calls = Array.from({ length: 200 }, () => new UpstreamRecorder(few));
    await until(() => peers.length === 2);
    await until(() => peers.reduce((sum, peer) => sum + peer.of(frame.HEADERS).length, 0) === 200);
    expect(peers).to.have.length(2);
    expect(few.active).to.equal(200);
    for (const { stream } of calls) stream.abort();
    expect(few.active).to.equal(0);
  });

  it('tells the backend that nobody wants the response', async () => {
    const call = new UpstreamRecorder(connector);
    const peer = await asked(1);
    call.stream.abort();
    expect(await peer.reset(1)).to.equal(frame.CANCEL);
    expect(call.send('x', true)).to.not.equal(PENDING);
  });

  it('drops the rest of a request whose response is complete', async () => {
    const call = new UpstreamRecorder(connector, POST);
    call.send('part');
    const peer = await asked(1);
    peer.send(peer.headers(1, [':status', '403']));
    await call.over();
    expect(await peer.reset(1)).to.equal(frame.CANCEL);
  });

  it('grants no more than is taken, and delivers the rest on resume', async () => {
    const call = new UpstreamRecorder(connector);
    call.isSlow = true;
    const peer = await asked(1);
    const chunk = Buffer.alloc(16_383, 'z');
    peer.send(peer.headers(1, [':status', '200'], false));
    for (let i = 0; i < 4; i++) peer.send(peer.data(1, chunk, false));
    await until(() => call.parts.length > 0);
    peer.send(frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
    await peer.until((seen) => seen.of(frame.PING).length > 0);
    expect(peer.of(frame.WINDOW_UPDATE, 1)).to.have.length(0);
    call.isSlow = false;
    call.stream.resume();
    await peer.until((seen) => seen.of(frame.WINDOW_UPDATE, 1).length > 0);
    peer.send(peer.data(1, 'end'));
    await call.over();
    expect(call.body.length).to.equal(4 * 16_383 + 3);
  });

  it('ends a connection that exceeds the window', async () => {
    const call = new UpstreamRecorder(connector);
    call.isSlow = true;
    const peer = await asked(1);
    peer.send(peer.headers(1, [':status', '200'], false));
    for (let i = 0; i < 5; i++) peer.send(peer.data(1, Buffer.alloc(16_384), false));
    expect(await peer.reset(1)).to.equal(frame.FLOW_CONTROL_ERROR);
  });

  it('takes PENDING for its word and asks for more when the backend opens its window', async () => {
    greeting = settingsOf([frame.SETTINGS_INITIAL_WINDOW_SIZE, 5]);
    new UpstreamRecorder(connector).stream.abort();
    const peer = await asked(1);
    await peer.until((seen) => seen.of(frame.SETTINGS).length > 1);
    const call = new UpstreamRecorder(connector, POST);
    expect(call.send('123456789', true)).to.equal(PENDING);
    await asked(3);
    peer.send(frameOf(frame.WINDOW_UPDATE, 0, 3, uint32(100)));
    expect((await peer.body(3)).toString()).to.equal('123456789');
    await until(() => call.drains === 1);
  });

  it('refuses to be pushed to', async () => {
    const call = new UpstreamRecorder(connector);
    const peer = await asked(1);
    peer.send(frameOf(frame.PUSH_PROMISE, frame.FLAG_END_HEADERS, 1, uint32(2)));
    expect(await peer.goneAway()).to.equal(frame.PROTOCOL_ERROR);
    expect((await call.over()).failure?.kind).to.equal('early');
  });

  it('gives up a backend that does not speak HTTP/2', async () => {
    greeting = Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect((await new UpstreamRecorder(connector).over()).failure?.kind).to.equal('early');
  });

  it('gives up a backend that says nothing', async () => {
    greeting = undefined;
    expect((await new UpstreamRecorder(connector).over()).failure?.kind).to.equal('early');
  });

  it('notices by PING that a backend is gone', async () => {
    const call = new UpstreamRecorder(connector);
    const peer = await asked(1);
    await peer.until((seen) => seen.of(frame.PING).length > 0);
    expect((await call.over()).failure?.kind).to.equal('early');
  });

  it('closes a connection that is idle, and every one when it is retired', async () => {
    const call = new UpstreamRecorder(connector);
    const peer = await asked(1);
    peer.send(peer.headers(1, [':status', '200']));
    await call.over();
    await peer.until((seen) => seen.closed);
    const open = new UpstreamRecorder(connector);
    const second = await asked(1, 1);
    connector.retire();
    second.send(second.headers(1, [':status', '200']));
    await open.over();
    await second.until((seen) => seen.closed);
  });

  it('opens a fresh connection for a request that must not reuse one', async () => {
    new UpstreamRecorder(connector);
    await asked(1);
    const call = new UpstreamRecorder(connector, {}, undefined, false);
    expect(call.stream.reused).to.equal(false);
    await asked(1, 1);
  });

  it('opens a tunnel by extended CONNECT and closes each direction by itself', async () => {
    greeting = settingsOf([frame.SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]);
    const call = new UpstreamRecorder(connector, {
      upgrade: 'websocket',
      path: '/chat',
      fields: new FieldList(['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ==']),
    });
    const peer = await asked(1);
    expect(await peer.head(1)).to.deep.equal([
      ':method', 'CONNECT', ':scheme', 'http', ':authority', 'a.test', ':path', '/chat', ':protocol', 'websocket',
    ]); // prettier-ignore
    peer.send(peer.headers(1, [':status', '200'], false), peer.data(1, 'hi', false));
    await until(() => call.body === 'hi');
    expect(call.status).to.equal(101);
    expect(call.fields).to.deep.equal(['sec-websocket-accept', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
    peer.send(peer.data(1, '', true));
    await until(() => call.ended);
    expect(call.send('still', true)).to.equal(0);
    expect((await peer.body(1)).toString()).to.equal('still');
    await until(() => connector.active === 0);
  });

  const upgrade = { upgrade: 'websocket', fields: new FieldList(['sec-websocket-key', 'x']) };

  it('holds an upgrade until the settings allow it, and nothing else', async () => {
    greeting = undefined;
    const tunnel = new UpstreamRecorder(connector, upgrade);
    const plain = new UpstreamRecorder(connector, { path: '/plain' });
    const peer = await asked(1);
    expect(await peer.head(1)).to.include.members([':path', '/plain']);
    expect(peer.of(frame.HEADERS)).to.have.length(1);
    peer.greet([frame.SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]);
    expect(await peer.head(3)).to.include.members([':protocol', 'websocket']);
    peer.send(peer.headers(3, [':status', '200'], false), peer.headers(1, [':status', '204']));
    await plain.over();
    await until(() => tunnel.status === 101);
  });

  it('fails an upgrade when the settings do not allow it', async () => {
    const early = await new UpstreamRecorder(connector, upgrade).over();
    expect(early.failure).to.include({ kind: 'protocol' });
    const late = await new UpstreamRecorder(connector, upgrade).over();
    expect(late.failure?.detail).to.match(/does not take upgrades/);
    expect(peers[0]?.of(frame.HEADERS)).to.deep.equal([]);
    expect(connector.active).to.equal(0);
  });

  it('fails an upgrade whose connection ends before the settings', async () => {
    greeting = undefined;
    const lost = new UpstreamRecorder(connector, upgrade);
    const gone = new UpstreamRecorder(connector, upgrade);
    gone.stream.abort();
    await until(() => peers.length > 0);
    peers[0]?.socket.destroy();
    await lost.over();
    expect(lost.failure).to.include({ kind: 'connect' });
    expect(gone.failure).to.equal(undefined);
    expect(connector.active).to.equal(0);
  });
});

describe('HTTP/2 backend over TLS', () => {
  it('is given up when it does not choose h2', async () => {
    const bench = new Http2Bench();
    const authority = new TestAuthority();
    const { certificate, privateKey } = authority.server(['localhost']);
    const server = createTlsServer({ cert: certificate, key: privateKey });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const tls = {
      context: createSecureContext({ ca: authority.certificate }),
      serverName: 'localhost',
      alpn: ['h2'],
      sessionKey: '',
    };
    const plain = await new UpstreamRecorder(bench.connector(portOf(server), {}, tls)).over();
    expect(plain.failure?.kind).to.equal('tls');
    const untrusted = { ...tls, context: createSecureContext({}) };
    const foreign = await new UpstreamRecorder(bench.connector(portOf(server), {}, untrusted)).over();
    expect(foreign.failure?.kind).to.equal('tls');
    server.close();
    await bench.close();
  });
});
