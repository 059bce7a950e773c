import { expect } from 'chai';
import * as frame from '../../../../src/engine/http2/frame.js';
import { frameOf, RawPeer } from '../../../support/engine/raw-http2.js';
import { Http2Bench } from '../../../support/engine/http2-bench.js';
import { AnsweringRunner } from '../../../support/engine/relay-runner.js';

describe('HTTP/2 requests that are refused', () => {
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

  const malformed: readonly (readonly [string, readonly string[]])[] = [
    ['no method', [':scheme', 'http', ':path', '/', ':authority', 'a']],
    ['no scheme', [':method', 'GET', ':path', '/', ':authority', 'a']],
    ['no path', [':method', 'GET', ':scheme', 'http', ':authority', 'a']],
    ['an empty path', [':method', 'GET', ':scheme', 'http', ':path', '', ':authority', 'a']],
    ['a path without slash', [':method', 'GET', ':scheme', 'http', ':path', 'x', ':authority', 'a']],
    [
      'a repeated path',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':path', '/b', ':authority', 'a'],
    ],
    [
      'an unknown pseudo-header',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', ':x', 'y'],
    ],
    [
      'a pseudo-header after a field',
      [':method', 'GET', ':scheme', 'http', ':path', '/', 'x', 'y', ':authority', 'a'],
    ],
    [
      'a response pseudo-header',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', ':status', '200'],
    ],
    [
      'connection',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'connection', 'close'],
    ],
    [
      'transfer-encoding',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'transfer-encoding', 'chunked'],
    ],
    ['upgrade', [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'upgrade', 'h2c']],
    [
      'te other than trailers',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'te', 'gzip'],
    ],
    [
      'capitals in a name',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'X-A', 'b'],
    ],
    [
      'a line break in a value',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'x', 'a\r\nb'],
    ],
    [
      'a Host that contradicts',
      [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a', 'host', 'b'],
    ],
    [
      'two content-lengths',
      [
        ':method',
        'GET',
        ':scheme',
        'http',
        ':path',
        '/',
        ':authority',
        'a',
        'content-length',
        '0',
        'content-length',
        '0',
      ],
    ],
    [
      'content-length without body',
      [':method', 'POST', ':scheme', 'http', ':path', '/', ':authority', 'a', 'content-length', '3'],
    ],
    [
      'a signed content-length',
      [':method', 'POST', ':scheme', 'http', ':path', '/', ':authority', 'a', 'content-length', '+0'],
    ],
    [
      ':protocol without CONNECT',
      [':method', 'GET', ':protocol', 'websocket', ':scheme', 'http', ':path', '/', ':authority', 'a'],
    ],
    ['CONNECT with a path', [':method', 'CONNECT', ':scheme', 'http', ':path', '/', ':authority', 'a']],
    ['a blank in the method', [':method', 'G T', ':scheme', 'http', ':path', '/', ':authority', 'a']],
  ];
  for (const [what, fields] of malformed) {
    it(`resets a stream whose request has ${what}`, async () => {
      const peer = greeted();
      peer.send(peer.headers(1, fields));
      expect(await peer.reset(1)).to.equal(frame.PROTOCOL_ERROR);
      peer.send(peer.request(3));
      expect((await peer.body(3)).toString()).to.equal('hello');
      expect(runner.exchanges).to.have.length(1);
    });
  }

  const refused: readonly (readonly [string, string, readonly string[]])[] = [
    ['a plain CONNECT', '501', [':method', 'CONNECT', ':authority', 'a:443']],
    [
      'an unknown tunnel',
      '501',
      [':method', 'CONNECT', ':protocol', 'x', ':scheme', 'http', ':path', '/', ':authority', 'a'],
    ],
    ['no authority', '400', [':method', 'GET', ':scheme', 'http', ':path', '/']],
    ['user information', '400', [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'me@a']],
    [
      'a scheme that is none of ours',
      '400',
      [':method', 'GET', ':scheme', 'ftp', ':path', '/', ':authority', 'a'],
    ],
    ['a fragment', '400', [':method', 'GET', ':scheme', 'http', ':path', '/a#b', ':authority', 'a']],
    ['an escaped NUL', '400', [':method', 'GET', ':scheme', 'http', ':path', '/a%00', ':authority', 'a']],
    [
      'too many fields',
      '431',
      [
        ':method',
        'GET',
        ':scheme',
        'http',
        ':path',
        '/',
        ':authority',
        'a',
        ...Array.from({ length: 2000 }, (_, i) => [`x-${i}`, 'v']).flat(),
      ],
    ],
  ];
  for (const [what, status, fields] of refused) {
    it(`answers ${status} to ${what}`, async () => {
      const peer = greeted();
      peer.send(...blockFrames(1, peer.block(fields)));
      expect((await peer.head(1)).slice(0, 2)).to.deep.equal([':status', status]);
      expect(runner.rejected).to.deep.equal([Number(status)]);
    });
  }
});

/** A block of any length in frames. */
function blockFrames(id: number, block: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += 16_384) {
    const end = at + 16_384 >= block.length ? frame.FLAG_END_HEADERS : 0;
    const part = block.subarray(at, at + 16_384);
    frames.push(
      at === 0
        ? frameOf(frame.HEADERS, end | frame.FLAG_END_STREAM, id, part)
        : frameOf(frame.CONTINUATION, end, id, part),
    );
  }
  return frames;
}
