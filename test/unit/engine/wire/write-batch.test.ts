import { expect } from 'chai';
import { atTurnEnd, isTurnEnding } from '../../../../src/engine/wire/turn-end.js';
import { type BatchedWriter, WriteBatch } from '../../../../src/engine/wire/write-batch.js';

class Writer implements BatchedWriter {
  readonly written: string[] = [];
  readonly buffers: Buffer[] = [];
  isTaken = true;

  writeBatched(bytes: Buffer): boolean {
    this.buffers.push(bytes);
    this.written.push(bytes.toString('latin1'));
    return this.isTaken;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('WriteBatch', () => {
  it('writes at the end of the turn, in order, from copies', async () => {
    const batch = new WriteBatch({ debug: false });
    const [a, b] = [new Writer(), new Writer()];
    const bytes = Buffer.from('one');
    expect(batch.add(a, bytes)).to.equal(true);
    bytes.fill(0);
    expect(batch.add(b, Buffer.from('two'))).to.equal(true);
    expect(batch.addConstant(a, Buffer.from('three'))).to.equal(true);
    expect(a.written).to.deep.equal([]);
    await turn();
    expect(a.written).to.deep.equal(['one', 'three']);
    expect(b.written).to.deep.equal(['two']);
    await turn();
    expect(a.written).to.have.length(2);
  });

  it('does not copy what is constant', () => {
    const batch = new WriteBatch({ debug: false });
    const writer = new Writer();
    const bytes = Buffer.from('constant');
    batch.addConstant(writer, bytes);
    batch.flush();
    expect(writer.buffers[0]).to.equal(bytes);
  });

  it('leaves large and empty writes to the writer', () => {
    const batch = new WriteBatch({ debug: false });
    const writer = new Writer();
    expect(batch.add(writer, Buffer.alloc(4097))).to.equal(false);
    expect(batch.add(writer, Buffer.alloc(0))).to.equal(false);
    expect(batch.addConstant(writer, Buffer.alloc(0))).to.equal(false);
    batch.flush();
    expect(writer.written).to.deep.equal([]);
  });

  it('leaves writes at the end of a turn to the writer', async () => {
    const batch = new WriteBatch({ debug: false });
    const answers: boolean[] = [];
    atTurnEnd({
      atTurnEnd: () => {
        answers.push(isTurnEnding(), batch.add(new Writer(), Buffer.from('x')));
      },
    });
    expect(isTurnEnding()).to.equal(false);
    await turn();
    expect(answers).to.deep.equal([true, false]);
  });

  it('leaves writes to the writer for a while when there are few of them', async () => {
    const batch = new WriteBatch({ debug: false });
    const writer = new Writer();
    const bytes = Buffer.from('x');
    expect(batch.add(writer, bytes)).to.equal(true);
    await turn();
    for (let i = 0; i < 64; i++) expect(batch.add(writer, bytes)).to.equal(false);
    for (let i = 0; i < 8; i++) expect(batch.addConstant(writer, bytes)).to.equal(true);
    await turn();
    expect(batch.add(writer, bytes)).to.equal(true);
  });

  it('writes earlier when there is no more room', () => {
    const batch = new WriteBatch({ debug: false });
    const writer = new Writer();
    for (let i = 0; i < 16; i++) batch.add(writer, Buffer.alloc(4096, 65 + i));
    expect(writer.written).to.have.length(0);
    batch.add(writer, Buffer.from('more'));
    expect(writer.written).to.have.length(16);
    batch.flush();
    expect(writer.written.at(-1)).to.equal('more');
  });

  it('gives bytes that are needed for longer away', () => {
    const batch = new WriteBatch({ debug: true });
    const [slow, fast] = [new Writer(), new Writer()];
    slow.isTaken = false;
    batch.add(slow, Buffer.from('slow'));
    batch.flush();
    batch.add(fast, Buffer.from('fast'));
    batch.flush();
    expect(slow.buffers[0]?.toString()).to.equal('slow');
    expect(fast.buffers[0]?.every((byte) => byte === 0xdb)).to.equal(true);
  });
});
