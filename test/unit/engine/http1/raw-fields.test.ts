import { expect } from 'chai';
import fc from 'fast-check';
import { FieldBlock, FieldList, type Fields } from '../../../../src/engine/exchange/fields.js';
import { parseRequestHead } from '../../../../src/engine/http1/parse-head.js';
import { RawRequestHead } from '../../../../src/engine/http1/raw-heads.js';

/** The same fields as received bytes and as a list. */
function both(flat: readonly string[]): [Fields, Fields] {
  let text = 'GET / HTTP/1.1\r\nHost: a\r\n';
  for (let i = 0; i + 1 < flat.length; i += 2) text += `${flat[i]!}: ${flat[i + 1]!}\r\n`;
  const bytes = Buffer.from(text + '\r\n', 'latin1');
  const head = new RawRequestHead();
  expect(parseRequestHead(bytes, 0, bytes.length, head)).to.equal(bytes.length);
  return [head.fields, new FieldList([...flat])];
}

function written(fields: Fields): string[] {
  const target = Buffer.alloc(8192);
  const end = fields.writeHttp1(target, 0);
  return target
    .toString('latin1', 0, end)
    .split('\r\n')
    .filter((line) => line !== '' && !/^host:/i.test(line))
    .map((line) => line.toLowerCase());
}

const name = fc.constantFrom('x-a', 'x-b', 'cookie', 'date', 'content-type', 'x-long-name-that-is-not-known');
const value = fc.constantFrom('', '1', 'two', 'a, b');
const operation = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name, value }),
  fc.record({ kind: fc.constant('set' as const), name, value }),
  fc.record({ kind: fc.constant('remove' as const), name, value }),
  fc.record({ kind: fc.constant('block' as const), name, value }),
);

describe('RawFields and FieldList', () => {
  it('behave the same under any operations', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, value), { maxLength: 6 }),
        fc.array(operation, { maxLength: 8 }),
        (initial, operations) => {
          const pair = both(initial.flat());
          for (const { kind, name: field, value: text } of operations) {
            for (const fields of pair) {
              if (kind === 'add') fields.add(field, text);
              else if (kind === 'set') fields.set(field, text);
              else if (kind === 'remove') fields.remove(field);
              else fields.addBlock(new FieldBlock([field, text, 'x-block', '1']));
            }
          }
          const [raw, list] = pair;
          expect(raw.toList().toFlat()).to.deep.equal(list.toList().toFlat());
          expect(written(raw)).to.deep.equal(written(list));
          for (const field of ['x-a', 'x-b', 'cookie', 'date', 'x-block', 'host']) {
            expect(raw.get(field)).to.equal(list.get(field));
            expect(raw.getAll(field)).to.deep.equal(list.getAll(field));
            expect(raw.has(field)).to.equal(list.has(field));
          }
        },
      ),
    );
  });

  it('say when they do not fit', () => {
    for (const fields of both(['x-a', 'a'.repeat(100)])) {
      expect(fields.writeHttp1(Buffer.alloc(50), 0)).to.equal(-1);
      fields.remove('x-a');
      fields.addBlock(new FieldBlock(['x-b', 'b'.repeat(100)]));
      expect(fields.writeHttp1(Buffer.alloc(50), 0)).to.equal(-1);
      fields.set('x-b', 'b'.repeat(100));
      expect(fields.writeHttp1(Buffer.alloc(50), 0)).to.equal(-1);
    }
  });

  it('never let a value split a message', () => {
    const list = new FieldList(['x-a', 'b\r\nevil: 1', 'x-b', 'ĊĀ']);
    expect(written(list)).to.deep.equal(['x-a: b??evil: 1', 'x-b: ??']);
    expect(new FieldBlock(['x-a', 'b\nc']).http1.toString()).to.equal('x-a: b?c\r\n');
  });

  it('a list on a block uses it until something of it changes', () => {
    const list = new FieldList(['x-c', '3'], new FieldBlock(['x-a', '1', 'x-b', '2']));
    expect(written(list)).to.deep.equal(['x-a: 1', 'x-b: 2', 'x-c: 3']);
    list.set('x-c', '4');
    list.remove('x-a');
    expect(list.toFlat()).to.deep.equal(['x-b', '2', 'x-c', '4']);
    expect(list.getAll('x-b')).to.deep.equal(['2']);
  });
});
