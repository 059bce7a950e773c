import { expect } from 'chai';
import * as frame from '../../../../src/engine/http2/frame.js';
import { frameOf, RawPeer, uint32 } from '../../../support/engine/raw-http2.js';
import { Http2Bench } from '../../../support/engine/http2-bench.js';
import { AnsweringRunner } from '../../../support/engine/relay-runner.js';
import { until } from '../../../support/until.js';

describe('H-04 floods of an HTTP/2 client', () => {
  let bench: Http2Bench;
  let runner: AnsweringRunner;
  let port: number;

  beforeEach(async () => {
    bench = new Http2Bench();
    runner = new AnsweringRunner(() => ({ status: 200, body: Buffer.from('hello') }));
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

  it('lets a browser cancel 200 images', async () => {
    const peer = greeted();
    for (let id = 1; id < 401; id += 2) {
      peer.send(peer.request(id, '/img', [], false), frameOf(frame.RST_STREAM, 0, id, uint32(frame.CANCEL)));
    }
    peer.send(peer.request(401));
    expect((await peer.body(401)).toString()).to.equal('hello');
  });

  const floods: readonly (readonly [string, (peer: RawPeer, i: number) => Buffer])[] = [
    [
      'HEADERS and RST_STREAM (CVE-2023-44487)',
      (peer, i) =>
        Buffer.concat([
          peer.request(2 * i + 1, '/', [], false),
          frameOf(frame.RST_STREAM, 0, 2 * i + 1, uint32(frame.CANCEL)),
        ]),
    ],
    [
      'provoked resets (CVE-2025-8671)',
      (peer, i) =>
        Buffer.concat([
          peer.request(2 * i + 1, '/', [], false),
          frameOf(frame.WINDOW_UPDATE, 0, 2 * i + 1, uint32(0)),
        ]),
    ],
    ['malformed requests', (peer, i) => peer.headers(2 * i + 1, [':method', 'GET'])],
    [
      'refused requests',
      (peer, i) =>
        peer.headers(2 * i + 1, [':method', 'GET', ':scheme', 'ftp', ':path', '/', ':authority', 'a']),
    ],
    ['PING', () => frameOf(frame.PING, 0, 0, Buffer.alloc(8))],
    ['SETTINGS', () => frameOf(frame.SETTINGS, 0, 0)],
    ['WINDOW_UPDATE', () => frameOf(frame.WINDOW_UPDATE, 0, 0, uint32(1))],
    ['PRIORITY', (_, i) => frameOf(frame.PRIORITY, 0, 2 * i + 3, Buffer.alloc(5))],
    ['unknown frames', () => frameOf(0x77, 0, 0)],
    ['empty DATA', (peer, i) => (i === 0 ? peer.request(1, '/', [], false) : peer.data(1, '', false))],
  ];
  for (const [what, make] of floods) {
    it(`ends a connection that floods with ${what}`, async () => {
      const peer = greeted();
      for (let i = 0; i < 10_000 && !peer.closed; i += 50) {
        peer.send(...Array.from({ length: 50 }, (_, j) => make(peer, i + j)));
      }
      expect(await peer.goneAway()).to.equal(frame.ENHANCE_YOUR_CALM);
      await until(() => bench.closed === 1);
    });
  }

  it('ends a connection whose header block does not end (CVE-2024-27983)', async () => {
    const peer = greeted();
    peer.send(frameOf(frame.HEADERS, 0, 1, peer.block([':method', 'GET'])));
    for (let i = 0; i < 100; i++) peer.send(frameOf(frame.CONTINUATION, 0, 1, Buffer.alloc(1, 0x82)));
    expect(await peer.goneAway()).to.equal(frame.ENHANCE_YOUR_CALM);
  });

  it('ends a connection whose header block is too long', async () => {
    const peer = greeted();
    peer.send(frameOf(frame.HEADERS, 0, 1, Buffer.alloc(16_000, 0x82)));
    for (let i = 0; i < 5; i++) peer.send(frameOf(frame.CONTINUATION, 0, 1, Buffer.alloc(16_000, 0x82)));
    expect(await peer.goneAway()).to.equal(frame.ENHANCE_YOUR_CALM);
  });

  it('ends a connection that does not read the answers to what it floods with', async () => {
    const peer = greeted();
    peer.socket.pause();
    for (let i = 0; i < 40; i++)
      peer.send(Buffer.concat(Array.from({ length: 200 }, () => frameOf(frame.PING, 0, 0, Buffer.alloc(8)))));
    await until(() => bench.closed === 1);
  });

  it('gives a slow head the time of the listener and no more', async () => {
    const other = await bench.serve(
      runner,
      {},
      {
        settings: {
          connectionsLimit: 0,
          readHeaderTimeoutMs: 100,
          maxRequestBodyBytes: -1,
          proxyProtocol: false,
          trustedProxies: [],
        },
      },
    );
    const silent = new RawPeer(bench.socket(other));
    const partial = new RawPeer(bench.socket(other));
    partial.greet();
    partial.send(frameOf(frame.HEADERS, 0, 1, partial.block([':method', 'GET'])));
    await silent.until(() => silent.closed && partial.closed);
  });

  it('does not end a connection for one PING on each answer', async () => {
    const peer = greeted();
    for (let i = 0; i < 1500; i++) {
      peer.send(peer.request(2 * i + 1), frameOf(frame.PING, 0, 0, Buffer.alloc(8)));
      if (i % 40 === 39) await peer.body(2 * i + 1);
    }
    await peer.body(2999);
    expect(peer.of(frame.GOAWAY)).to.have.length(0);
  });
});
