import { expect } from 'chai';
import fc from 'fast-check';
import type { HeaderOperation } from '../../../../src/ir/cache-policy.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { HeaderOperations } from '../../../../src/engine/filters/header-operations.js';

/** The same, one operation after the other. */
function applyOneByOne(fields: FieldList, operations: readonly HeaderOperation[]): void {
  for (const { operation, name, value = '' } of operations) {
    if (operation === 'set') fields.set(name.toLowerCase(), value);
    else if (operation === 'append') fields.add(name.toLowerCase(), value);
    else fields.remove(name.toLowerCase());
  }
}

describe('HeaderOperations', () => {
  const name = fc.constantFrom('x-a', 'X-A', 'x-b', 'cookie');
  const value = fc.constantFrom('', '1', 'two');
  const operation = fc.record({
    operation: fc.constantFrom('set' as const, 'append' as const, 'remove' as const),
    name,
    value,
  });

  it('come to the same as if they were made one after the other', () => {
    const initial = fc.array(fc.tuple(fc.constantFrom('x-a', 'x-b', 'x-c'), value), { maxLength: 4 });
    fc.assert(
      fc.property(initial, fc.array(operation, { maxLength: 8 }), (pairs, operations) => {
        const expected = new FieldList(pairs.flat());
        applyOneByOne(expected, operations);
        const fields = new FieldList(pairs.flat());
        new HeaderOperations(operations).apply(fields);
        expect(fields.toFlat()).to.deep.equal(expected.toFlat());
      }),
    );
  });

  it('leave framing and connection to the codecs, and Host to the authority', () => {
    const fields = new FieldList(['content-length', '3']);
    new HeaderOperations([
      { operation: 'set', name: 'Content-Length', value: '4' },
      { operation: 'append', name: 'Connection', value: 'x-a' },
      { operation: 'set', name: 'Host', value: 'b.test' },
      { operation: 'set', name: ':path', value: '/' },
    ]).apply(fields);
    expect(fields.toFlat()).to.deep.equal(['content-length', '3']);
  });
});
