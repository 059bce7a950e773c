import { expect } from 'chai';
import fc from 'fast-check';
import { TargetTexts } from '../../../../src/engine/http1/target-texts.js';

describe('TargetTexts', () => {
  it('makes the same texts as Node, in one buffer after another, whatever came before and stands behind', () => {
    const landings = [Buffer.alloc(512), Buffer.alloc(512)];
    const text = fc.oneof(
      fc.constantFrom('', '/', '/a', '/b', '/aB', '/abc', '/abcd', `/${'x'.repeat(300)}`),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    const ask = fc.record({
      text,
      offset: fc.nat(5),
      landing: fc.nat(1),
      behind: fc.nat(255),
      times: fc.nat(3),
    });
    const texts = new TargetTexts();
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 20 }), (asks) => {
        for (const { text: each, offset, landing, behind, times } of asks) {
          const buffer = landings[landing] ?? Buffer.alloc(0);
          buffer.fill(behind);
          buffer.write(each, offset, 'latin1');
          for (let i = 0; i <= times; i++)
            expect(texts.of(buffer, offset, offset + each.length)).to.equal(each);
        }
      }),
    );
  });

  it('reads a text at the very end of a buffer', () => {
    const texts = new TargetTexts();
    for (const text of ['/a', '/a', '/a', '/abcdefg', '/abcdefg', '/abcdefg']) {
      for (let spare = 0; spare < 5; spare++) {
        const buffer = Buffer.from(text + '#'.repeat(spare));
        expect(texts.of(buffer, 0, text.length)).to.equal(text);
      }
    }
  });

  it('tells texts apart that share a place', () => {
    const texts = new TargetTexts();
    const buffer = Buffer.alloc(64);
    for (let i = 0; i < 15_000; i++) {
      const text = `/objects/${(i / 3) | 0}`;
      buffer.write(text);
      expect(texts.of(buffer, 0, text.length)).to.equal(text);
    }
  });
});
