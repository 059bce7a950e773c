import { expect } from 'chai';
import { FrameReader, type FrameSink, type Payload } from '../../../../src/engine/http2/frame-reader.js';

class Notes implements FrameSink {
  readonly heard: string[] = [];
  stopped = false;
  stopsAt = '';
  wants = true;

  onBadFrame(code: 'size' | 'padding'): void {
    this.stopped = true;
    this.heard.push(`bad ${code}`);
  }

  onDataBegin(id: number, length: number, overhead: number): boolean {
    this.#note(`begin ${id} ${length} ${overhead}`);
    return this.wants;
  }

  onData(buffer: Buffer, start: number, end: number, last: boolean): void {
    this.#note(`data ${buffer.toString('latin1', start, end)}${last ? ' last' : ''}`);
  }

  onFrame(type: number, flags: number, id: number, { buffer, start, end }: Payload): void {
    this.#note(`frame ${type} ${flags} ${id} ${buffer.toString('latin1', start, end)}`);
  }

  #note(text: string): void {
    this.heard.push(text);
    if (text.startsWith(this.stopsAt) && this.stopsAt !== '') this.stopped = true;
  }
}

/** @param payload its text, or only the length that the header tells. */
function frame(type: number, flags: number, id: number, payload: string | number): Buffer {
  const text = typeof payload === 'number' ? '' : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(typeof payload === 'number' ? payload : text.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, Buffer.from(text, 'latin1')]);
}

function read(notes: Notes, ...pieces: Buffer[]): string[] {
  const reader = new FrameReader(notes);
  for (const piece of pieces) reader.read(piece, 0, piece.length);
  return notes.heard;
}

const bytewise = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte));

describe('frames of HTTP/2', () => {
  for (const [title, bytes, want] of [
    ['a frame', frame(6, 1, 0x8000_0003, '12345678'), ['frame 6 1 3 12345678']],
    ['a frame without payload', frame(4, 1, 0, ''), ['frame 4 1 0 ']],
    ['an empty DATA frame', frame(0, 1, 5, ''), ['begin 5 0 0', 'data  last']],
    ['a frame too long', frame(1, 0, 1, 16_385), ['bad size']],
    ['DATA too long', frame(0, 0, 1, 16_385), ['bad size']],
    ['padding without its length', frame(0, 8, 1, ''), ['bad size']],
    ['padding longer than the payload', frame(0, 8, 1, '\x03ab'), ['bad padding']],
    ['padding only', frame(0, 9, 1, '\x02\0\0'), ['begin 1 3 3', 'data  last']],
  ] as const) {
    it(`${title}, whole`, () => {
      expect(read(new Notes(), bytes)).to.deep.equal(want);
    });

    it(`${title}, byte by byte`, () => {
      expect(read(new Notes(), ...bytewise(bytes))).to.deep.equal(want);
    });
  }

  it('DATA is handed on as it comes', () => {
    const bytes = frame(0, 9, 1, '\x02abc\0\0');
    expect(
      read(new Notes(), bytes.subarray(0, 11), bytes.subarray(11, 14), bytes.subarray(14)),
    ).to.deep.equal(['begin 1 6 3', 'data a', 'data bc', 'data  last']);
  });

  it('DATA that nobody wants is skipped', () => {
    const notes = new Notes();
    notes.wants = false;
    expect(read(notes, frame(0, 1, 1, 'abc'), frame(8, 0, 0, 'w'))).to.deep.equal([
      'begin 1 3 0',
      'frame 8 0 0 w',
    ]);
  });

  for (const stopsAt of ['begin', 'data', 'frame 4']) {
    it(`nothing is read any more after a stop at ${stopsAt}`, () => {
      const notes = new Notes();
      notes.stopsAt = stopsAt;
      read(notes, Buffer.concat([frame(4, 0, 0, ''), frame(0, 9, 1, '\x01ab\0'), frame(6, 0, 0, '')]));
      expect(notes.heard.at(-1)).to.satisfy((text: string) => text.startsWith(stopsAt));
    });
  }

  it('tells that a part is held', () => {
    const reader = new FrameReader(new Notes());
    const bytes = frame(6, 0, 0, '12345678');
    reader.read(bytes, 0, 12);
    expect(reader.holdsPart).to.equal(true);
    reader.read(bytes, 12, bytes.length);
    expect(reader.holdsPart).to.equal(false);
  });
});
