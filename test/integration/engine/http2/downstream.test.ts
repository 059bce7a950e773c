import { expect } from 'chai';
import * as frame from '../../../../src/engine/http2/frame.js';
import { PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import { frameOf, RawPeer, uint32 } from '../../../support/engine/raw-http2.js';
import { Http2Bench } from '../../../support/engine/http2-bench.js';
import { AnsweringRunner, type ScriptedAnswer } from '../../../support/engine/relay-runner.js';
import { until } from '../../../support/until.js';

describe('HTTP/2 client connection', () => {
  let bench: Http2Bench;
  let runner: AnsweringRunner;
  let port: number;
  let answer: ScriptedAnswer;

  beforeEach(async () => {
    bench = new Http2Bench();
    answer = { status: 200, fields: ['x-a', 'b'], body: Buffer.from('hello') };
    runner = new AnsweringRunner(() => answer);
    port = await bench.serve(runner, {
      maxConcurrentStreams: 50,
      idleMs: 300,
      writeMs: 400,
      quietMs: 10_000,
    });
  });

  afterEach(() => bench.close());

  function greeted(...settings: (readonly [number, number])[]): RawPeer {
    const peer = new RawPeer(bench.socket(port));
    peer.greet(...settings);
    return peer;
  }

  it('answers a request whose bytes come one by one', async () => {
    const peer = new RawPeer(bench.socket(port));
    peer.socket.setNoDelay();
    const bytes = Buffer.concat([
      frameOf(frame.SETTINGS, 0, 0),
      peer.request(1, '/slow', ['x-q', '1'], false),
      frameOf(frame.DATA, frame.FLAG_PADDED, 1, Buffer.from([3, ...Buffer.from('abc'), 0, 0, 0])),
      peer.data(1, 'def'),
    ]);
    for (const byte of bytes) {
      peer.socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect(await peer.head(1)).to.deep.equal([':status', '200', 'x-a', 'b']);
    expect((await peer.body(1)).toString()).to.equal('hello');
    const [exchange] = runner.exchanges;
    expect(Buffer.concat(exchange!.body).toString()).to.equal('abcdef');
    expect(exchange!.head).to.include({
      path: '/slow',
      authority: 'a.test',
      protocol: '2.0',
      method: 'POST',
    });
  });

  it('hands a head and its body, when they come together, on as one', async () => {
    const peer = greeted();
    peer.send(peer.request(1, '/', [], false), peer.data(1, 'a', false), peer.data(1, 'b'));
    await peer.body(1);
    expect(runner.exchanges[0]!.body.map(String)).to.deep.equal(['ab']);
  });

  it('gives nothing of a stream that was reset to the next one', async () => {
    const peer = greeted();
    peer.send(
      peer.request(1, '/lost', [], false),
      peer.data(1, 'lost', false),
      frameOf(frame.RST_STREAM, 0, 1, uint32(frame.CANCEL)),
      peer.request(3, '/kept', [], false),
      peer.data(3, 'kept'),
    );
    await peer.body(3);
    const kept = runner.exchanges.find(({ head }) => head.path === '/kept');
    expect(kept?.body.map(String)).to.deep.equal(['kept']);
  });

  it('gives nothing of a connection that failed to the next one', async () => {
    const failing = greeted();
    failing.send(
      failing.request(1, '/lost', [], false),
      failing.data(1, 'lost', false),
      frameOf(frame.PUSH_PROMISE, 0, 1, uint32(2)),
    );
    await until(() => failing.closed);
    const peer = greeted();
    peer.send(peer.request(1, '/kept', [], false), peer.data(1, 'kept'));
    await peer.body(1);
    const kept = runner.exchanges.find(({ head }) => head.path === '/kept');
    expect(kept?.body.map(String)).to.deep.equal(['kept']);
  });

  it('sends trailers after the body, and no DATA for trailers alone', async () => {
    answer = { ...answer, trailers: ['x-sum', '5'] };
    const peer = greeted();
    peer.send(peer.request(1));
    await peer.body(1);
    expect(peer.frames.filter(({ id }) => id === 1).map(({ type }) => type)).to.deep.equal([
      frame.HEADERS,
      frame.DATA,
      frame.HEADERS,
    ]);
  });

  it('passes request trailers on, without what does not belong there', async () => {
    const peer = greeted();
    peer.send(peer.request(1, '/', [], false), peer.data(1, 'x', false));
    peer.send(peer.headers(1, ['x-sum', '1', 'content-length', '9'], true));
    await peer.body(1);
    expect(runner.exchanges[0]!.trailers).to.deep.equal(['x-sum', '1']);
  });

  it('joins cookie crumbs, and drops what a client may not say', async () => {
    const peer = greeted();
    peer.send(
      peer.request(1, '/', [
        'cookie',
        'a=1',
        'x-forwarded-for',
        '6.6.6.6',
        'cookie',
        'b=2',
        'x-trickster-result',
        'hit',
      ]),
    );
    await peer.head(1);
    expect(runner.exchanges[0]!.head.fields.toList().toFlat()).to.deep.equal(['cookie', 'a=1; b=2']);
  });

  it('normalises the path as HTTP/1.1 does', async () => {
    const peer = greeted();
    peer.send(peer.request(1, '/a/./b/../%2e%2e/c?d=/../e'));
    await peer.head(1);
    expect(runner.exchanges[0]!.head.path).to.equal('/c?d=/../e');
  });

  it('takes capitals and underscores in the authority, and Host in its place', async () => {
    const peer = greeted();
    const start = [':method', 'GET', ':scheme', 'http', ':path', '/'];
    peer.send(peer.headers(1, [...start, ':authority', 'My_Host.Test:8080', 'host', 'my_host.test:8080']));
    peer.send(peer.headers(3, [...start, 'host', 'other.test']));
    await peer.body(3);
    expect(runner.exchanges.map(({ head }) => head.authority)).to.deep.equal([
      'My_Host.Test:8080',
      'other.test',
    ]);
    expect(runner.exchanges[0]!.head.hostname).to.equal('my_host.test');
  });

  it('resets a stream whose body is longer or shorter than promised', async () => {
    const peer = greeted();
    const length = ['content-length', '3'];
    peer.send(peer.request(1, '/', length, false), peer.data(1, 'abcd', false));
    peer.send(peer.request(3, '/', length, false), peer.data(3, 'ab'));
    expect(await peer.reset(1)).to.equal(frame.PROTOCOL_ERROR);
    expect(await peer.reset(3)).to.equal(frame.PROTOCOL_ERROR);
  });

  it('respects both windows and goes on when they open', async () => {
    const body = Buffer.alloc(100_000, 'w');
    answer = { status: 200, body };
    const peer = greeted([frame.SETTINGS_INITIAL_WINDOW_SIZE, 10]);
    peer.send(peer.request(1));
    await peer.until(() => peer.of(frame.DATA, 1).length > 0);
    peer.send(frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
    await peer.until(() => peer.of(frame.PING).length > 0);
    expect(sizeOf(peer, 1)).to.equal(10);
    peer.send(frameOf(frame.WINDOW_UPDATE, 0, 1, uint32(200_000)));
    await peer.until(() => sizeOf(peer, 1) >= 65_535);
    peer.send(frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
    await peer.until(() => peer.of(frame.PING).length > 1);
    expect(sizeOf(peer, 1)).to.equal(65_535);
    peer.send(frameOf(frame.WINDOW_UPDATE, 0, 0, uint32(100_000)));
    expect((await peer.body(1)).equals(body)).to.equal(true);
    expect(runner.exchanges[0]!.drained).to.equal(1);
  });

  it('gives streams turns when the connection window is small', async () => {
    answer = { status: 200, body: Buffer.alloc(60_000, 'w') };
    const peer = greeted([frame.SETTINGS_INITIAL_WINDOW_SIZE, 100_000]);
    for (const id of [1, 3, 5, 7]) peer.send(peer.request(id));
    await peer.until(() => peer.of(frame.HEADERS).length === 4);
    peer.send(frameOf(frame.WINDOW_UPDATE, 0, 0, uint32(65_536)));
    await peer.until(() => [1, 3, 5, 7].every((id) => sizeOf(peer, id) >= 16_384));
  });

  it('lets a window become negative and waits until it is positive again', async () => {
    answer = { status: 200, body: Buffer.alloc(200, 'w') };
    const peer = greeted([frame.SETTINGS_INITIAL_WINDOW_SIZE, 100]);
    peer.send(peer.request(1));
    await peer.until(() => sizeOf(peer, 1) === 100);
    peer.greet([frame.SETTINGS_INITIAL_WINDOW_SIZE, 0]);
    peer.send(frameOf(frame.WINDOW_UPDATE, 0, 1, uint32(100)), frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
    await peer.until(() => peer.of(frame.PING).length > 0);
    expect(sizeOf(peer, 1)).to.equal(100);
    peer.send(frameOf(frame.WINDOW_UPDATE, 0, 1, uint32(100)));
    expect((await peer.body(1)).length).to.equal(200);
  });

  it('refuses streams beyond its limit and serves the others', async () => {
    const peer = greeted();
    for (let id = 1; id <= 101; id += 2) peer.send(peer.request(id, '/', [], false));
    expect(await peer.reset(101)).to.equal(frame.REFUSED_STREAM);
    peer.send(peer.data(1, 'x'));
    expect((await peer.body(1)).toString()).to.equal('hello');
  });

  it('drains in two steps and answers what was on its way', async () => {
    const peer = greeted();
    peer.send(peer.request(1, '/', [], false));
    await until(() => runner.exchanges.length === 1);
    for (const connection of bench.connections) connection.drain();
    await peer.until(() => peer.of(frame.PING).length === 1);
    expect(peer.of(frame.GOAWAY)[0]?.payload.readUInt32BE(0)).to.equal(0x7fff_ffff);
    peer.send(peer.request(3));
    await peer.body(3);
    peer.send(frameOf(frame.PING, frame.FLAG_ACK, 0, peer.of(frame.PING)[0]?.payload));
    await peer.until(() => peer.of(frame.GOAWAY).length === 2);
    expect(peer.of(frame.GOAWAY)[1]?.payload.readUInt32BE(0)).to.equal(3);
    peer.send(peer.request(5));
    expect(await peer.reset(5)).to.equal(frame.REFUSED_STREAM);
    expect(peer.closed).to.equal(false);
    peer.send(peer.data(1, 'x'));
    expect((await peer.body(1)).toString()).to.equal('hello');
    await peer.until(() => peer.closed);
  });

  it('drains a client that does not answer the PING once it is idle', async () => {
    const peer = greeted();
    peer.send(peer.request(1));
    await peer.body(1);
    for (const connection of bench.connections) connection.drain();
    await peer.until(() => peer.closed);
    expect(await peer.goneAway()).to.equal(frame.NO_ERROR);
  });

  it('closes a connection that is idle', async () => {
    const peer = greeted();
    expect(await peer.goneAway()).to.equal(frame.NO_ERROR);
    await peer.until(() => peer.closed);
  });

  it('gives up a client that takes nothing of what it asked for', async () => {
    answer = { status: 200, body: Buffer.alloc(1000) };
    const peer = greeted([frame.SETTINGS_INITIAL_WINDOW_SIZE, 0]);
    peer.send(peer.request(1));
    await peer.until(() => peer.closed);
    await until(() => bench.closed === 1);
    expect(runner.exchanges[0]!.aborted).to.be.a('string');
  });

  it('tells exchanges when the client is gone', async () => {
    const peer = greeted();
    peer.send(peer.request(1, '/', [], false));
    await until(() => runner.exchanges.length === 1);
    peer.socket.destroy();
    await until(() => runner.exchanges[0]!.aborted !== undefined);
  });

  it('ends a response before the request is complete by RST_STREAM(NO_ERROR)', async () => {
    const early = new AnsweringRunner(() => answer);
    const other = await bench.serve({
      begin: (stream, head) => {
        stream.sendHead(new PlainResponseHead(413), new Piece().clear(true));
        return early.begin(stream, head, new Piece());
      },
      reject: () => undefined,
    });
    const peer = new RawPeer(bench.socket(other));
    peer.greet();
    peer.send(peer.request(1, '/', [], false), peer.data(1, 'a', false));
    expect(await peer.reset(1)).to.equal(frame.NO_ERROR);
    // What was on its way is ignored.
    peer.send(peer.data(1, 'b'), frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
    await peer.until(() => peer.of(frame.PING).length === 1);
    expect(peer.of(frame.GOAWAY)).to.have.length(0);
  });
});

function sizeOf(peer: RawPeer, id: number): number {
  return peer.of(frame.DATA, id).reduce((sum, { payload }) => sum + payload.length, 0);
}
