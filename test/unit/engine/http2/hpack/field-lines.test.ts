import { expect } from 'chai';
import fc from 'fast-check';
import { FieldBlock, type Fields } from '../../../../../src/engine/exchange/fields.js';
import { FieldParser } from '../../../../../src/engine/http1/field-parser.js';
import { RawFields } from '../../../../../src/engine/http1/raw-fields.js';
import { HeaderDecoder } from '../../../../../src/engine/http2/hpack/header-decoder.js';
import { HeaderEncoder } from '../../../../../src/engine/http2/hpack/header-encoder.js';

const MAX_LIST = 1 << 24;

/** Fields as a backend has sent them. */
function received(lines: readonly string[], section: 'request' | 'response' = 'response'): RawFields {
  const bytes = Buffer.from(`${lines.map((line) => `${line}\r\n`).join('')}\r\n`, 'latin1');
  const fields = new RawFields();
  fields.reset(bytes);
  expect(new FieldParser(section).parse(bytes, 0, bytes.length, fields)).to.equal(bytes.length);
  return fields;
}

class Hop {
  readonly encoder = new HeaderEncoder();
  readonly decoder = new HeaderDecoder(MAX_LIST);
  length = 0;

  pass(fields: Fields): readonly string[] | undefined {
    this.encoder.begin();
    this.encoder.fields(fields);
    this.length = this.encoder.length;
    return this.decoder.decode(Buffer.from(this.encoder.bytes.subarray(0, this.length)), 0, this.length);
  }
}

/** What a line means, for every name that is passed on. */
function flatten(fields: Fields): readonly string[] {
  const flat: string[] = [];
  fields.forEach((name, value) => {
    flat.push(name, value);
  });
  return flat;
}

describe('fields that were received in HTTP/1.1, as header blocks', () => {
  const name = fc.constantFrom(
    'Server',
    'server',
    'Content-Type',
    'ETag',
    'X-A',
    'x-a',
    'X-Very-Long-Name-Of-A-Field',
    'Set-Cookie',
    'X-Request-Id',
    'a',
  );
  const text = fc.string({
    maxLength: 40,
    unit: fc
      .integer({ min: 0x21, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
  });
  const value = fc.oneof(
    fc.constantFrom(
      '',
      'a',
      'ab',
      'abc',
      'abcd',
      'abcde',
      'text/html',
      'gzip, deflate',
      'abcd\tefgh',
      'x'.repeat(600),
    ),
    text,
  );
  const blank = fc.constantFrom('', ' ', '  ', '\t');
  const line = fc.tuple(name, blank, value, blank).map((parts) => `${parts[0]}:${parts.slice(1).join('')}`);

  it('are decoded to what was received, however they repeat on however many connections', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(1), fc.array(line, { maxLength: 8 })), { maxLength: 20 }),
        (heads) => {
          const hops = [new Hop(), new Hop()];
          for (const [index, lines] of heads) {
            const fields = received(lines);
            expect(hops[index]?.pass(fields)).to.deep.equal(flatten(fields));
          }
        },
      ),
    );
  });

  it('are small once they repeat, on a new connection as well', () => {
    const lines = [
      'Server: origin/1',
      'Content-Type: text/x-repeats',
      'Content-Length: 12',
      'X-Always: the same',
    ];
    const sizes = [0, 1, 2, 3].map(() => {
      const hop = new Hop();
      hop.pass(received(lines));
      hop.pass(received(lines));
      hop.pass(received(lines));
      hop.pass(received(lines));
      return hop.length;
    });
    expect(sizes.at(-1)).to.equal(4);
  });

  it('do not enter the table while they are different each time', () => {
    const hop = new Hop();
    for (let i = 0; i < 100; i++) hop.pass(received([`ETag: "tag-${i}"`, `Content-Length: ${i * 7}`]));
    expect(hop.decoder.generation).to.equal(0);
  });

  it('leave credentials out of the table, and unique values as well', () => {
    const hop = new Hop();
    const lines = ['Set-Cookie: session=secret', 'X-Request-Id: 1234'];
    for (let i = 0; i < 5; i++) {
      expect(hop.pass(received(lines))).to.deep.equal([
        'set-cookie',
        'session=secret',
        'x-request-id',
        '1234',
      ]);
      expect(hop.decoder.neverIndexed).to.deep.equal(['set-cookie']);
    }
    expect(hop.decoder.generation).to.equal(0);
  });

  it('do not tell the host, which the authority is', () => {
    const fields = received(['Host: a.test', 'Accept: text/html'], 'request');
    expect(new Hop().pass(fields)).to.deep.equal(['accept', 'text/html']);
  });

  it('come with what was added, and without what was removed', () => {
    const hop = new Hop();
    for (let i = 0; i < 4; i++) {
      const fields = received(['A: 1', 'B: 2', 'C: 3']);
      fields.remove('b');
      fields.add('d', '4');
      fields.addBlock(new FieldBlock(['via', '1.1 gateway']));
      expect(hop.pass(fields)).to.deep.equal(['a', '1', 'c', '3', 'd', '4', 'via', '1.1 gateway']);
    }
  });

  it('may be longer than the buffer they are read from', () => {
    const hop = new Hop();
    for (const length of [16_370, 16_371, 16_372, 16_373, 16_374, 16_375, 16_380, 40_000]) {
      const long = 'v'.repeat(length);
      expect(hop.pass(received([`X: ${long}`, 'Y: z']))).to.deep.equal(['x', long, 'y', 'z']);
    }
  });

  it('are found although more texts repeat than are kept', () => {
    const hop = new Hop();
    for (let i = 0; i < 600; i++) {
      const long = `${i}`.padStart(2000, '-');
      for (let times = 0; times < 3; times++) {
        expect(hop.pass(received([`X-Long: ${long}`]))).to.deep.equal(['x-long', long]);
      }
    }
  });
});
