import { expect } from 'chai';
import { FrameWriter } from '../../../../src/engine/http2/frame-writer.js';
import {
  FAILED,
  PENDING,
  WRITTEN,
  type Connection,
  type WriteOutcome,
} from '../../../../src/engine/wire/wire.js';

const MEGABYTE = 1_048_576;

class Sent {
  outcome: WriteOutcome = WRITTEN;
  readonly writes: Buffer[] = [];

  // A writer does nothing with its wire but write.
  readonly wire = {
    write: (bytes: Buffer): WriteOutcome => {
      this.writes.push(Buffer.from(bytes));
      return this.outcome;
    },
  } as unknown as Connection;

  get bytes(): number {
    return this.writes.reduce((sum, { length }) => sum + length, 0);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('output of an HTTP/2 connection', () => {
  let sent: Sent;
  let writer: FrameWriter;

  beforeEach(() => {
    sent = new Sent();
    writer = new FrameWriter(sent.wire, false);
  });

  it('leaves in one write at the end of a turn', async () => {
    writer.settings([4, 65_536]);
    writer.acknowledgeSettings();
    writer.goAway(3, 2);
    expect(sent.writes).to.deep.equal([]);
    expect(writer.idle).to.equal(false);
    await turn();
    expect(sent.writes.map((bytes) => bytes.toString('hex'))).to.deep.equal([
      '000006040000000000000400010000' + '000000040100000000' + '0000080700000000000000000300000002',
    ]);
    expect(writer.idle).to.equal(true);
  });

  it('cuts a long header block, with END_HEADERS on its last frame only', async () => {
    writer.headers(5, Buffer.alloc(20_000, 'h'), 20_000, true);
    await turn();
    const all = Buffer.concat(sent.writes);
    expect([...all.subarray(0, 9)]).to.deep.equal([0, 0x40, 0, 1, 1, 0, 0, 0, 5]);
    expect([...all.subarray(16_393, 16_402)]).to.deep.equal([0, 0x0e, 0x20, 9, 4, 0, 0, 0, 5]);
    expect(all).to.have.length(20_018);
  });

  it('has no room for DATA while the wire holds some', async () => {
    sent.outcome = PENDING;
    writer.windowUpdate(0, 1);
    await turn();
    expect([writer.dataRoom(), writer.idle]).to.deep.equal([0, false]);
    writer.resetStream(1, 8);
    await turn();
    expect(sent.writes).to.have.length(1);
    sent.outcome = WRITTEN;
    writer.onDrain();
    expect(sent.writes).to.have.length(2);
    expect(writer.idle).to.equal(true);
    expect(writer.dataRoom()).to.equal(65_536 - 9);
  });

  it('makes room for DATA by a write when little is left', () => {
    writer.bytes(Buffer.alloc(65_000));
    expect(writer.dataRoom()).to.equal(65_536 - 9);
    expect(sent.bytes).to.equal(65_000);
    sent.outcome = PENDING;
    writer.bytes(Buffer.alloc(65_000));
    expect(writer.dataRoom()).to.equal(0);
  });

  it('writes before a frame that has no place any more', () => {
    writer.bytes(Buffer.alloc(65_530));
    writer.ping(Buffer.from('12345678'), 0, true);
    expect(sent.bytes).to.equal(65_530);
  });

  it('is kept until the connection is made', async () => {
    const corked = new FrameWriter(sent.wire, true);
    corked.bytes(Buffer.alloc(65_500));
    expect(corked.dataRoom()).to.equal(27);
    corked.bytes(Buffer.alloc(200_000, 1));
    expect(corked.dataRoom()).to.equal(0);
    await turn();
    expect(sent.writes).to.deep.equal([]);
    corked.corked = false;
    corked.flush();
    expect(sent.writes.map(({ length }) => length)).to.deep.equal([265_500]);
    expect(sent.writes[0]?.at(-1)).to.equal(1);
  });

  it('gives a peer up that does not read what it asked for', async () => {
    sent.outcome = PENDING;
    writer.acknowledgeSettings();
    await turn();
    for (let bytes = 0; bytes < 2 * MEGABYTE && !writer.failed; bytes += 8192)
      writer.bytes(Buffer.alloc(8192));
    expect(writer.failed).to.equal(true);
    expect(sent.writes).to.have.length(1);
    writer.onClose();
    expect(writer.idle).to.equal(true);
  });

  it('is nothing once the wire has failed', async () => {
    sent.outcome = FAILED;
    writer.acknowledgeSettings();
    await turn();
    expect(writer.failed).to.equal(true);
    expect(writer.dataRoom()).to.equal(0);
    writer.settings([1, 1]);
    writer.headers(1, Buffer.alloc(3), 3, true);
    writer.ping(Buffer.alloc(8), 0, false);
    writer.goAway(0, 0);
    writer.data(1, 1, true);
    writer.payload(Buffer.alloc(1), 0, 1);
    writer.resetStream(1, 0);
    writer.windowUpdate(1, 1);
    writer.bytes(Buffer.alloc(1));
    await turn();
    expect(sent.writes).to.have.length(1);
    expect(writer.idle).to.equal(true);
  });

  it('is forgotten when the connection closes', async () => {
    writer.data(1, 2, true);
    writer.payload(Buffer.from('xaby'), 1, 3);
    expect(writer.idle).to.equal(false);
    writer.onClose();
    expect(writer.idle).to.equal(true);
    await turn();
    expect(sent.writes).to.deep.equal([]);
  });
});
