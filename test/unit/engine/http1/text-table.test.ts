import { expect } from 'chai';
import fc from 'fast-check';
import { TextTable } from '../../../../src/engine/http1/text-table.js';

describe('TextTable', () => {
  it('makes the same texts as Node, wherever they stand and whatever came before', () => {
    const text = fc.oneof(
      fc.constantFrom('', '/', '/a', '/b', '/aB', `/${'x'.repeat(255)}`, `/${'x'.repeat(256)}`),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    const table = new TextTable();
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.nat(5)), { maxLength: 20 }), (texts) => {
        for (const [each, offset] of texts) {
          const buffer = Buffer.from(`${'#'.repeat(offset)}${each}#`, 'latin1');
          expect(table.of(buffer, offset, offset + each.length)).to.equal(each);
        }
      }),
    );
  });

  it('tells texts apart that share a place', () => {
    const table = new TextTable();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 5000; i++) {
        const text = `/objects/${i}`;
        expect(table.of(Buffer.from(text), 0, text.length)).to.equal(text);
      }
    }
  });
});
