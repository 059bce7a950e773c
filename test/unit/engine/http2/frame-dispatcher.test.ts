import { expect } from 'chai';
import * as frame from '../../../../src/engine/http2/frame.js';
import { FrameDispatcher, type FrameListener } from '../../../../src/engine/http2/frame-dispatcher.js';
import { HeaderEncoder } from '../../../../src/engine/http2/hpack/header-encoder.js';
import { frameOf, settingsOf, uint32 } from '../../../support/engine/raw-http2.js';

/** Notes what it is told. */
class Listener implements FrameListener<unknown> {
  readonly heard: string[] = [];
  stopped = false;

  onDataBegin(id: number, length: number, overhead: number): boolean {
    this.heard.push(`data of ${id}: ${length}, padding ${overhead}`);
    return true;
  }
  onData(buffer: Buffer, start: number, end: number, last: boolean): void {
    this.heard.push(`${buffer.toString('latin1', start, end)}${last ? '.' : ''}`);
  }
  onHeaderBlock: FrameListener<unknown>['onHeaderBlock'] = (id, { fields }, form) => {
    const said = `${form.endsStream ? '.' : ''}${form.selfDependent ? ' on itself' : ''}`;
    this.heard.push(`headers of ${id}: ${fields.join('=')}${said}`);
  };
  onResetFrame(id: number, code: number): void {
    this.heard.push(`reset ${id}: ${code}`);
  }
  onWindowUpdate(id: number, increment: number): void {
    this.heard.push(`window of ${id}: ${increment}`);
  }
  onSettingsFrame: FrameListener<unknown>['onSettingsFrame'] = ({ start, end }) => {
    this.heard.push(`settings ${(end - start) / 6}`);
  };
  onPing: FrameListener<unknown>['onPing'] = ({ buffer, start, end }) => {
    this.heard.push(`ping ${buffer.toString('latin1', start, end)}`);
  };
  onPingAck(): void {
    this.heard.push('pong');
  }
  onGoAway(lastStreamId: number): void {
    this.heard.push(`goaway ${lastStreamId}`);
  }
  onIdleFrame(): void {
    this.heard.push('idle');
  }
  onStreamError(id: number, code: number): void {
    this.heard.push(`error ${code} of ${id}`);
  }
  onConnectionError(code: number): void {
    this.heard.push(`error ${code}`);
    this.stopped = true;
  }
}

const SETTINGS = settingsOf([frame.SETTINGS_ENABLE_PUSH, 0]);

function blockOf(name: string, value: string): Buffer {
  const encoder = new HeaderEncoder();
  encoder.begin();
  encoder.field(name, value);
  return Buffer.from(encoder.bytes.subarray(0, encoder.length));
}

function hear(...frames: Buffer[]): { heard: string[]; awaitsHead: boolean } {
  const listener = new Listener();
  const dispatcher = new FrameDispatcher(listener);
  const bytes = Buffer.concat(frames);
  dispatcher.read(bytes, 0, bytes.length);
  return { heard: listener.heard, awaitsHead: dispatcher.awaitsHead };
}

describe('FrameDispatcher', () => {
  const block = blockOf('x-a', 'b');
  const opening = frameOf(frame.HEADERS, frame.FLAG_END_STREAM, 1, block.subarray(0, 2));

  for (const [what, bytes, heard] of [
    [
      'DATA',
      frameOf(frame.DATA, frame.FLAG_END_STREAM, 1, Buffer.from('ab')),
      ['data of 1: 2, padding 0', 'ab.'],
    ],
    ['RST_STREAM', frameOf(frame.RST_STREAM, 0, 1, uint32(8)), ['reset 1: 8']],
    ['WINDOW_UPDATE', frameOf(frame.WINDOW_UPDATE, 0, 0, uint32(0x8000_0005)), ['window of 0: 5']],
    ['SETTINGS', SETTINGS, ['settings 1']],
    ['an acknowledgement', frameOf(frame.SETTINGS, frame.FLAG_ACK, 0), []],
    ['PING', frameOf(frame.PING, 0, 0, Buffer.from('12345678')), ['ping 12345678']],
    ['its answer', frameOf(frame.PING, frame.FLAG_ACK, 0, Buffer.from('12345678')), ['pong']],
    ['GOAWAY', frameOf(frame.GOAWAY, 0, 0, Buffer.concat([uint32(7), uint32(0)])), ['goaway 7']],
    ['PRIORITY', frameOf(frame.PRIORITY, 0, 1, Buffer.from('\0\0\0\x03\x10', 'latin1')), ['idle']],
    ['an unknown type', frameOf(0x42, 0, 1), ['idle']],
  ] as const) {
    it(`tells what ${what} says`, () => {
      expect(hear(SETTINGS, bytes).heard).to.deep.equal(['settings 1', ...heard]);
    });
  }

  it('tells a header block once it is whole', () => {
    expect(hear(SETTINGS, opening)).to.deep.equal({ heard: ['settings 1'], awaitsHead: true });
    const rest = frameOf(frame.CONTINUATION, frame.FLAG_END_HEADERS, 1, block.subarray(2));
    expect(hear(SETTINGS, opening, rest)).to.deep.equal({
      heard: ['settings 1', 'headers of 1: x-a=b.'],
      awaitsHead: false,
    });
  });

  it('tells of a stream that depends on itself', () => {
    const flags = frame.FLAG_END_HEADERS | frame.FLAG_PRIORITY;
    const bytes = frameOf(frame.HEADERS, flags, 3, Buffer.concat([uint32(3), Buffer.from([16]), block]));
    expect(hear(SETTINGS, bytes).heard).to.include('headers of 3: x-a=b on itself');
    const priority = frameOf(frame.PRIORITY, 0, 3, Buffer.concat([uint32(3), Buffer.from([16])]));
    expect(hear(SETTINGS, priority).heard).to.include(`error ${frame.PROTOCOL_ERROR} of 3`);
  });

  it('awaits a head until settings have come', () => {
    expect(hear().awaitsHead).to.equal(true);
    expect(hear(SETTINGS).awaitsHead).to.equal(false);
  });

  it('takes PRIORITY of a wrong size for an error of its stream', () => {
    const bytes = frameOf(frame.PRIORITY, 0, 3, uint32(1));
    expect(hear(SETTINGS, bytes).heard).to.include(`error ${frame.FRAME_SIZE_ERROR} of 3`);
  });

  for (const [what, code, frames] of [
    [
      'a first frame that is none of settings',
      frame.PROTOCOL_ERROR,
      [frameOf(frame.PING, 0, 0, Buffer.alloc(8))],
    ],
    ['DATA before settings', frame.PROTOCOL_ERROR, [frameOf(frame.DATA, 0, 1)]],
    [
      'an acknowledgement before settings',
      frame.PROTOCOL_ERROR,
      [frameOf(frame.SETTINGS, frame.FLAG_ACK, 0)],
    ],
    ['a header block with DATA in it', frame.PROTOCOL_ERROR, [SETTINGS, opening, frameOf(frame.DATA, 0, 1)]],
    [
      'one that another stream goes on with',
      frame.PROTOCOL_ERROR,
      [SETTINGS, opening, frameOf(frame.CONTINUATION, 0, 3)],
    ],
    ['CONTINUATION of nothing', frame.PROTOCOL_ERROR, [SETTINGS, frameOf(frame.CONTINUATION, 0, 1)]],
    [
      'a block that cannot be decoded',
      frame.COMPRESSION_ERROR,
      [SETTINGS, frameOf(frame.HEADERS, 4, 1, Buffer.from([0xff]))],
    ],
    ['DATA of no stream', frame.PROTOCOL_ERROR, [SETTINGS, frameOf(frame.DATA, 0, 0)]],
    ['PUSH_PROMISE', frame.PROTOCOL_ERROR, [SETTINGS, frameOf(frame.PUSH_PROMISE, 0, 1, uint32(2))]],
    [
      'padding that is all of a frame',
      frame.PROTOCOL_ERROR,
      [SETTINGS, frameOf(frame.DATA, frame.FLAG_PADDED, 1, Buffer.from([1]))],
    ],
    [
      'a window of a wrong size',
      frame.FRAME_SIZE_ERROR,
      [SETTINGS, frameOf(frame.WINDOW_UPDATE, 0, 0, Buffer.alloc(3))],
    ],
    [
      'a frame that is too long',
      frame.FRAME_SIZE_ERROR,
      [SETTINGS, frameOf(frame.PING, 0, 0, Buffer.alloc(16_385))],
    ],
  ] as const) {
    it(`takes ${what} for an error of the connection, and hears nothing more`, () => {
      const { heard } = hear(...frames, frameOf(frame.RST_STREAM, 0, 1, uint32(8)));
      expect(heard.filter((text) => !text.startsWith('settings'))).to.deep.equal([`error ${code}`]);
    });
  }
});
