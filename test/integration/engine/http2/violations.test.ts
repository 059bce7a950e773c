import { expect } from 'chai';
import * as frame from '../../../../src/engine/http2/frame.js';
import { CLIENT_PREFACE } from '../../../../src/engine/http2/preface.js';
import { frameOf, RawPeer, settingsOf, uint32 } from '../../../support/engine/raw-http2.js';
import { Http2Bench } from '../../../support/engine/http2-bench.js';
import { AnsweringRunner } from '../../../support/engine/relay-runner.js';

const { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } = frame;

/** What is sent after the greeting, and the code of the GOAWAY that answers it. */
const FATAL: readonly (readonly [string, number, (peer: RawPeer) => Buffer])[] = [
  ['a frame that is too large', frame.FRAME_SIZE_ERROR, () => frameOf(DATA, 0, 1, Buffer.alloc(16_385))],
  ['DATA on stream 0', frame.PROTOCOL_ERROR, () => frameOf(DATA, 0, 0)],
  ['DATA on an idle stream', frame.PROTOCOL_ERROR, () => frameOf(DATA, 0, 1)],
  ['padding longer than the frame', frame.PROTOCOL_ERROR, (peer) => Buffer.concat([peer.request(1, '/', [], false), frameOf(DATA, frame.FLAG_PADDED, 1, Buffer.from([9, 0]))])],
  ['padded DATA without a length', frame.FRAME_SIZE_ERROR, (peer) => Buffer.concat([peer.request(1, '/', [], false), frameOf(DATA, frame.FLAG_PADDED, 1)])],
  ['HEADERS on stream 0', frame.PROTOCOL_ERROR, (peer) => peer.request(0)],
  ['HEADERS on an even stream', frame.PROTOCOL_ERROR, (peer) => peer.request(2)],
  ['a smaller identifier than before', frame.STREAM_CLOSED, (peer) => Buffer.concat([peer.request(5), peer.request(3)])],
  ['padding longer than the block', frame.PROTOCOL_ERROR, () => frameOf(HEADERS, frame.FLAG_PADDED | frame.FLAG_END_HEADERS, 1, Buffer.from([9, 0x82]))],
  ['a block that cannot be decoded', frame.COMPRESSION_ERROR, () => frameOf(HEADERS, frame.FLAG_END_HEADERS, 1, Buffer.from([0x80]))],
  ['a block that is interrupted', frame.PROTOCOL_ERROR, (peer) => Buffer.concat([frameOf(HEADERS, 0, 1, peer.block([':method', 'GET'])), frameOf(PING, 0, 0, Buffer.alloc(8))])],
  ['CONTINUATION of another stream', frame.PROTOCOL_ERROR, (peer) => Buffer.concat([frameOf(HEADERS, 0, 1, peer.block([':method', 'GET'])), frameOf(CONTINUATION, 4, 3)])],
  ['CONTINUATION without HEADERS', frame.PROTOCOL_ERROR, () => frameOf(CONTINUATION, frame.FLAG_END_HEADERS, 1)],
  ['PRIORITY on stream 0', frame.PROTOCOL_ERROR, () => frameOf(PRIORITY, 0, 0, Buffer.alloc(5))],
  ['RST_STREAM on stream 0', frame.PROTOCOL_ERROR, () => frameOf(RST_STREAM, 0, 0, uint32(0))],
  ['RST_STREAM on an idle stream', frame.PROTOCOL_ERROR, () => frameOf(RST_STREAM, 0, 1, uint32(0))],
  ['RST_STREAM of 3 bytes', frame.FRAME_SIZE_ERROR, () => frameOf(RST_STREAM, 0, 1, Buffer.alloc(3))],
  ['SETTINGS on a stream', frame.PROTOCOL_ERROR, () => frameOf(SETTINGS, 0, 1)],
  ['SETTINGS of 5 bytes', frame.FRAME_SIZE_ERROR, () => frameOf(SETTINGS, 0, 0, Buffer.alloc(5))],
  ['an acknowledgement with settings', frame.FRAME_SIZE_ERROR, () => frameOf(SETTINGS, frame.FLAG_ACK, 0, Buffer.alloc(6))],
  ['ENABLE_PUSH of 2', frame.PROTOCOL_ERROR, () => settingsOf([frame.SETTINGS_ENABLE_PUSH, 2])],
  ['a window of 2^31', frame.FLOW_CONTROL_ERROR, () => settingsOf([frame.SETTINGS_INITIAL_WINDOW_SIZE, 0x8000_0000])],
  ['a frame size below the least', frame.PROTOCOL_ERROR, () => settingsOf([frame.SETTINGS_MAX_FRAME_SIZE, 16_383])],
  ['a frame size above the largest', frame.PROTOCOL_ERROR, () => settingsOf([frame.SETTINGS_MAX_FRAME_SIZE, 0x100_0000])],
  ['ENABLE_CONNECT_PROTOCOL of 2', frame.PROTOCOL_ERROR, () => settingsOf([frame.SETTINGS_ENABLE_CONNECT_PROTOCOL, 2])],
  ['ENABLE_CONNECT_PROTOCOL that is taken back', frame.PROTOCOL_ERROR, () => settingsOf([frame.SETTINGS_ENABLE_CONNECT_PROTOCOL, 1], [frame.SETTINGS_ENABLE_CONNECT_PROTOCOL, 0])],
  ['PING on a stream', frame.PROTOCOL_ERROR, () => frameOf(PING, 0, 1, Buffer.alloc(8))],
  ['PING of 7 bytes', frame.FRAME_SIZE_ERROR, () => frameOf(PING, 0, 0, Buffer.alloc(7))],
  ['GOAWAY on a stream', frame.PROTOCOL_ERROR, () => frameOf(GOAWAY, 0, 1, Buffer.alloc(8))],
  ['GOAWAY of 7 bytes', frame.FRAME_SIZE_ERROR, () => frameOf(GOAWAY, 0, 0, Buffer.alloc(7))],
  ['WINDOW_UPDATE of 5 bytes', frame.FRAME_SIZE_ERROR, () => frameOf(WINDOW_UPDATE, 0, 0, Buffer.alloc(5))],
  ['WINDOW_UPDATE of 0', frame.PROTOCOL_ERROR, () => frameOf(WINDOW_UPDATE, 0, 0, uint32(0))],
  ['WINDOW_UPDATE on an idle stream', frame.PROTOCOL_ERROR, () => frameOf(WINDOW_UPDATE, 0, 1, uint32(1))],
  ['a window that overflows', frame.FLOW_CONTROL_ERROR, () => frameOf(WINDOW_UPDATE, 0, 0, uint32(0x7fff_ffff))],
  ['PUSH_PROMISE', frame.PROTOCOL_ERROR, () => frameOf(frame.PUSH_PROMISE, 4, 1, Buffer.alloc(4))],
]; // prettier-ignore

/** What is sent while stream 1 is open, and the code of its RST_STREAM. */
const OF_STREAM: readonly (readonly [string, number, (peer: RawPeer) => Buffer])[] = [
  ['WINDOW_UPDATE of 0', frame.PROTOCOL_ERROR, () => frameOf(WINDOW_UPDATE, 0, 1, uint32(0))],
  ['a window that overflows', frame.FLOW_CONTROL_ERROR, () => frameOf(WINDOW_UPDATE, 0, 1, uint32(0x7fff_ffff))],
  ['PRIORITY of 4 bytes', frame.FRAME_SIZE_ERROR, () => frameOf(PRIORITY, 0, 1, Buffer.alloc(4))],
  ['a stream that depends on itself', frame.PROTOCOL_ERROR, () => frameOf(PRIORITY, 0, 1, Buffer.concat([uint32(1), Buffer.alloc(1)]))],
  ['trailers that do not end the stream', frame.PROTOCOL_ERROR, (peer) => peer.headers(1, ['x', 'y'], false)],
  ['trailers with a pseudo-header', frame.PROTOCOL_ERROR, (peer) => peer.headers(1, [':path', '/'])],
]; // prettier-ignore

describe('HTTP/2 violations', () => {
  let bench: Http2Bench;
  let peer: RawPeer;

  beforeEach(async () => {
    bench = new Http2Bench();
    const port = await bench.serve(new AnsweringRunner(() => ({ status: 200 })));
    peer = new RawPeer(bench.socket(port));
  });

  afterEach(() => bench.close());

  for (const [what, code, make] of FATAL) {
    it(`ends the connection for ${what}`, async () => {
      peer.greet();
      peer.send(make(peer));
      expect(await peer.goneAway()).to.equal(code);
    });
  }

  for (const [what, code, make] of OF_STREAM) {
    it(`resets the stream for ${what}, and serves others`, async () => {
      peer.greet();
      peer.send(peer.request(1, '/', [], false), make(peer));
      expect(await peer.reset(1)).to.equal(code);
      peer.send(peer.request(3));
      await peer.head(3);
    });
  }

  it('ends the connection when the first frame is not SETTINGS', async () => {
    peer.send(peer.request(1));
    expect(await peer.goneAway()).to.equal(frame.PROTOCOL_ERROR);
  });

  it('ends the connection for a second preface', async () => {
    peer.send(CLIENT_PREFACE);
    expect(await peer.goneAway()).to.equal(frame.FRAME_SIZE_ERROR);
  });
});
