import { expect } from 'chai';
import fc from 'fast-check';
import { FieldBlock, FieldList, FieldNames, type Fields } from '../../../../src/engine/exchange/fields.js';
import { parseRequestHead } from '../../../../src/engine/http1/parse-head.js';
import { RawRequestHead } from '../../../../src/engine/http1/raw-heads.js';

const VALIDATORS = new FieldNames(['if-match', 'range']);

function raw(flat: readonly string[]): Fields {
  let text = 'GET / HTTP/1.1\r\nHost: a\r\n';
  for (let i = 0; i + 1 < flat.length; i += 2) text += `${flat[i] ?? ''}: ${flat[i + 1] ?? ''}\r\n`;
  const bytes = Buffer.from(text + '\r\n', 'latin1');
  const head = new RawRequestHead();
  expect(parseRequestHead(bytes, 0, bytes.length, head)).to.equal(bytes.length);
  return head.fields;
}

/** Every way to hold the same fields. */
const HOLDERS: Record<string, (flat: string[]) => Fields> = {
  received: raw,
  listed: (flat) => new FieldList(flat),
  'on a block': (flat) => new FieldList([], new FieldBlock(flat)),
  'added to received ones': (flat) => {
    const fields = raw([]);
    for (let i = 0; i + 1 < flat.length; i += 2) fields.add(flat[i] ?? '', flat[i + 1] ?? '');
    return fields;
  },
  'added to a list as blocks': (flat) => {
    const fields = new FieldList();
    fields.addBlock(new FieldBlock(flat.slice(0, 2)));
    fields.addBlock(new FieldBlock(flat.slice(2)));
    return fields;
  },
  'added as a block': (flat) => {
    const fields = raw([]);
    fields.addBlock(new FieldBlock(flat));
    return fields;
  },
};

for (const [how, make] of Object.entries(HOLDERS)) {
  describe(`fields ${how}`, () => {
    it('say whether one of some names is there', () => {
      for (const [flat, expected] of [
        [['range', 'bytes=0-1'], true],
        [['x-a', '1', 'if-match', '*'], true],
        [['x-a', '1'], false],
        [[], false],
      ] as const) {
        const fields = make([...flat]);
        expect(fields.hasAny(VALIDATORS), flat.join()).to.equal(expected);
        expect(fields.hasAny(VALIDATORS), 'asked again').to.equal(expected);
        fields.remove('range');
        fields.remove('if-match');
        expect(fields.hasAny(VALIDATORS)).to.equal(false);
      }
    });

    it('say whether they all are one value', () => {
      for (const [flat, expected] of [
        [['x-a', 'one'], true],
        [['x-a', 'two'], false],
        [['x-a', 'ones'], false],
        [['x-a', 'one', 'x-a', 'one'], false],
        [['x-ab', 'one'], false],
        [[], false],
      ] as const) {
        const fields = make([...flat]);
        expect(fields.isExactly('x-a', 'one'), flat.join()).to.equal(expected);
      }
    });

    it('are visited in their order and copied', () => {
      const flat = ['x-a', '1', 'cookie', 'a=b', 'x-a', '2'];
      const fields = make([...flat]);
      const seen: string[] = [];
      fields.forEach((name, value) => seen.push(name, value));
      expect(seen).to.deep.equal(flat);
      const copy = fields.toList();
      copy.set('x-a', '3');
      expect(copy.toFlat()).to.deep.equal(['cookie', 'a=b', 'x-a', '3']);
      expect(fields.getAll('x-a')).to.deep.equal(['1', '2']);
    });
  });
}

describe('received fields', () => {
  it('are compared without making text of them', () => {
    for (const [flat, expected] of [
      [['X-A', 'one'], true],
      [['x-a', 'two'], false],
      [['x-a', 'ones'], false],
      [['x-a', 'one', 'X-a', 'one'], false],
      [['x-b', 'one'], false],
    ] as const) {
      expect(raw(flat).isExactly('x-a', 'one'), flat.join()).to.equal(expected);
    }
    const fields = raw(['x-a', 'one']);
    fields.add('x-b', 'one');
    expect(fields.isExactly('x-a', 'one')).to.equal(true);
    fields.addBlock(new FieldBlock(['x-a', 'two']));
    expect(fields.isExactly('x-a', 'one')).to.equal(false);
  });

  it('refuse names without a number in a question about many', () => {
    expect(() => raw([]).hasAny(new FieldNames(['x-unknown']))).to.throw('x-unknown');
  });
});

describe('FieldList', () => {
  const name = fc.constantFrom('x-a', 'x-b', 'via', 'range');
  const pair = fc.tuple(name, fc.constantFrom('1', '2'));
  const flatOf = (pairs: readonly (readonly [string, string])[]): string[] => pairs.flat();
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), pair }),
    fc.record({ kind: fc.constant('set' as const), pair }),
    fc.record({ kind: fc.constant('remove' as const), pair }),
    fc.record({ kind: fc.constant('block' as const), pairs: fc.array(pair, { maxLength: 3 }) }),
  );

  it('is a list whatever of it was prepared', () => {
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 3 }), fc.array(step, { maxLength: 8 }), (base, steps) => {
        const fields = new FieldList([], new FieldBlock(flatOf(base)));
        let model = [...base];
        for (const each of steps) {
          if (each.kind === 'block') {
            fields.addBlock(new FieldBlock(flatOf(each.pairs)));
            model.push(...each.pairs);
          } else {
            const [first, value] = each.pair;
            if (each.kind !== 'add') model = model.filter(([other]) => other !== first);
            if (each.kind !== 'remove') model.push(each.pair);
            if (each.kind === 'remove') fields.remove(first);
            else fields[each.kind](first, value);
          }
        }
        expect(fields.toFlat()).to.deep.equal(flatOf(model));
        expect(fields.toList().toFlat()).to.deep.equal(flatOf(model));
        for (const each of ['x-a', 'range']) {
          const values = model.filter(([other]) => other === each).map(([, value]) => value);
          expect(fields.getAll(each)).to.deep.equal(values);
          expect(fields.get(each)).to.equal(values[0]);
        }
        expect(fields.hasAny(VALIDATORS)).to.equal(model.some(([other]) => other === 'range'));
        const target = Buffer.alloc(1024);
        const text = model.map(([other, value]) => `${other}: ${value}\r\n`).join('');
        expect(target.toString('latin1', 0, fields.writeHttp1(target, 0))).to.equal(text);
        if (text !== '') expect(fields.writeHttp1(target.subarray(0, text.length - 1), 0)).to.equal(-1);
      }),
    );
  });
});

describe('FieldBlock', () => {
  it('answers a new question anew', () => {
    const block = new FieldBlock(['range', 'bytes=0-1']);
    expect(block.hasAny(VALIDATORS)).to.equal(true);
    expect(block.hasAny(new FieldNames(['cookie']))).to.equal(false);
    expect(block.hasAny(VALIDATORS)).to.equal(true);
  });

  it('may be large', () => {
    const value = 'x'.repeat(1000);
    expect(new FieldBlock(['x-a', value]).http1.toString()).to.equal(`x-a: ${value}\r\n`);
  });
});
