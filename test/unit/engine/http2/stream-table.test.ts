import { expect } from 'chai';
import fc from 'fast-check';
import { StreamTable } from '../../../../src/engine/http2/stream-table.js';

interface Stream {
  readonly id: number;
}

describe('StreamTable', () => {
  const action = fc.record({ adds: fc.boolean(), id: fc.nat(400) });

  it('is what a map would be, whatever comes and goes', () => {
    fc.assert(
      fc.property(
        fc.array(action, { maxLength: 300 }),
        fc.constantFrom(1, 2, 64, 2 ** 23),
        (actions, stride) => {
          const table = new StreamTable<Stream>();
          const map = new Map<number, Stream>();
          for (const { adds, id: number } of actions) {
            const id = number * stride;
            const stream = { id };
            if (adds && !map.has(id)) {
              table.add(stream);
              map.set(id, stream);
            } else {
              expect(table.delete(id)).to.equal(map.get(id));
              map.delete(id);
            }
            expect(table.size).to.equal(map.size);
          }
          for (let id = 0; id <= 400 * stride; id += stride) expect(table.get(id)).to.equal(map.get(id));
          expect(table.values()).to.have.members([...map.values()]);
        },
      ),
    );
  });

  it('holds what stays open while thousands of others pass by', () => {
    const table = new StreamTable<Stream>();
    const first = { id: 1 };
    table.add(first);
    for (let id = 3; id < 40_000; id += 2) {
      table.add({ id });
      if (id > 60) expect(table.delete(id - 32)?.id).to.equal(id - 32);
    }
    expect(table.get(1)).to.equal(first);
  });

  it('may change while its streams are visited', () => {
    const table = new StreamTable<Stream>();
    for (let id = 1; id < 100; id += 2) table.add({ id });
    for (const { id } of table.values()) table.delete(id);
    expect(table.size).to.equal(0);
  });
});
