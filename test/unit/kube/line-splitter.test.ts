import { expect } from 'chai';
import fc from 'fast-check';

import { LineSplitter } from '../../../src/kube/line-splitter.js';

describe('kube/line-splitter', () => {
  it('finds the same lines wherever the stream is cut, also inside a character', () => {
    const text = fc
      .string({ unit: 'binary' })
      .map((line) => line.replace(/\s/g, '').replace(/[\ud800-\udfff]/gu, ''));
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.nat(40)), (lines, cuts) => {
        const bytes = Buffer.from(lines.join('\n'));
        const splitter = new LineSplitter(1000);
        const found: string[] = [];
        let from = 0;
        for (const cut of cuts) {
          found.push(...splitter.push(bytes.subarray(from, from + cut)));
          from = Math.min(bytes.length, from + cut);
        }
        found.push(...splitter.push(bytes.subarray(from)), ...splitter.end());
        expect(found).to.deep.equal(lines.filter((line) => line.trim() !== ''));
      }),
    );
  });

  it('refuses a line that does not end', () => {
    const splitter = new LineSplitter(10);
    splitter.push(Buffer.from('123456789'));
    expect(() => splitter.push(Buffer.from('0123'))).to.throw(RangeError, 'more than 10 characters');
  });
});
