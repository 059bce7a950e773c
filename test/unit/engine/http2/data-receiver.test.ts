import { expect } from 'chai';
import { DataReceiver } from '../../../../src/engine/http2/data-receiver.js';
import { inboundGather } from '../../../../src/engine/http2/inbound-gather.js';

/** A stream whose message has no length, or a wrong one. */
class Stream {
  gone = false;
  remoteClosed = false;
  consumed = 0;
  received = 0;

  constructor(
    readonly id: number,
    readonly longest = Infinity,
    readonly isWhole = true,
  ) {}

  countReceived(length: number): boolean {
    this.received += length;
    return this.received <= this.longest;
  }

  consume(length: number): void {
    this.consumed += length;
  }

  endRemote(): boolean {
    this.remoteClosed = true;
    return this.isWhole;
  }
}

describe('DataReceiver', () => {
  let heard: string[];
  let receiver: DataReceiver<Stream>;

  beforeEach(() => {
    heard = [];
    receiver = new DataReceiver<Stream>({
      takeGathered(stream, last) {
        const text = inboundGather.finish(last).view().toString('latin1');
        heard.push(`${stream.id}: ${text.length > 9 ? text.length : text}${last ? '.' : ''}`);
        return false;
      },
      onStreamError(id, _code, detail) {
        heard.push(`${id}: ${detail}`);
      },
    });
  });

  function receive(text: string, last = false): void {
    const bytes = Buffer.from(text, 'latin1');
    receiver.receive(bytes, 0, bytes.length, last);
  }

  it('hands frames that follow each other on as one piece', () => {
    const stream = new Stream(1);
    for (const text of ['a', 'b']) {
      receiver.begin(stream, 0);
      receive(text);
    }
    expect(heard).to.deep.equal([]);
    expect(receiver.isGatheringFor(stream)).to.equal(true);
    receiver.flush();
    receiver.flush();
    expect(heard).to.deep.equal(['1: ab']);
  });

  it('hands on what it has when another stream follows, and when a message ends', () => {
    receiver.begin(new Stream(1), 0);
    receive('a');
    receiver.begin(new Stream(3), 0);
    receive('b', true);
    expect(heard).to.deep.equal(['1: a', '3: b.']);
  });

  it('hands on what it has when the buffer is full', () => {
    receiver.begin(new Stream(1), 0);
    receive('a'.repeat(100_000));
    receiver.flush();
    const lengths = heard.map((text) => Number(text.slice(3)));
    expect(lengths.length).to.be.greaterThan(1);
    expect(lengths.reduce((sum, length) => sum + length)).to.equal(100_000);
  });

  it('goes on from a head', () => {
    const stream = new Stream(1);
    receiver.gatherFor(stream);
    receiver.flush();
    expect(heard).to.deep.equal(['1: ']);
  });

  it('takes padding for consumed, once', () => {
    const stream = new Stream(1);
    receiver.begin(stream, 7);
    receive('a');
    receive('b');
    receiver.flush();
    expect(stream.consumed).to.equal(7);
  });

  it('notices bodies of a wrong length', () => {
    receiver.begin(new Stream(1, 2), 0);
    receive('abc');
    receiver.begin(new Stream(3, Infinity, false), 0);
    receive('', true);
    expect(heard).to.deep.equal([
      '1: body longer than its content-length',
      '3: body shorter than its content-length',
    ]);
    receiver.drop();
  });

  it('ignores the rest of a frame whose stream is gone', () => {
    const stream = new Stream(1);
    receiver.begin(stream, 0);
    stream.gone = true;
    receive('a');
    expect(stream.received).to.equal(0);
  });

  for (const how of ['drop', 'end'] as const) {
    it(`leaves nothing to the next stream after ${how}`, () => {
      receiver.begin(new Stream(1), 0);
      receive('a');
      receiver[how]();
      receiver.begin(new Stream(3), 0);
      receive('b', true);
      expect(heard).to.deep.equal(['3: b.']);
    });
  }

  it('hears nothing after the end', () => {
    const stream = new Stream(1);
    receiver.begin(stream, 0);
    receiver.end();
    receive('a', true);
    expect(stream.received).to.equal(0);
  });
});
