import { expect } from 'chai';
import fc from 'fast-check';
import { HeaderDecoder } from '../../../../../src/engine/http2/hpack/header-decoder.js';
import { HeaderEncoder } from '../../../../../src/engine/http2/hpack/header-encoder.js';
import {
  decodeHuffman,
  encodeHuffman,
  huffmanLength,
} from '../../../../../src/engine/http2/hpack/huffman.js';

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

function decodeHex(decoder: HeaderDecoder, text: string): string[] | undefined {
  const block = hex(text);
  return decoder.decode(block, 0, block.length);
}

function encode(encoder: HeaderEncoder, fields: readonly (readonly [string, string, boolean?])[]): Buffer {
  encoder.begin();
  for (const [name, value, sensitive] of fields) encoder.field(name, value, sensitive);
  return Buffer.from(encoder.bytes.subarray(0, encoder.length));
}

function roundTrip(
  encoder: HeaderEncoder,
  decoder: HeaderDecoder,
  fields: readonly (readonly [string, string])[],
): number {
  const block = encode(encoder, fields);
  expect(decoder.decode(block, 0, block.length)).to.deep.equal(fields.flat());
  return block.length;
}

describe('Huffman code', () => {
  const cases = [
    { text: 'www.example.com', code: 'f1e3 c2e5 f23a 6ba0 ab90 f4ff' },
    { text: 'no-cache', code: 'a8eb 1064 9cbf' },
    { text: 'custom-value', code: '25a8 49e9 5bb8 e8b4 bf' },
    { text: 'Mon, 21 Oct 2013 20:13:21 GMT', code: 'd07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff' },
    {
      text: 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
      code: '94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    },
  ];
  for (const { text, code } of cases) {
    it(`codes ${text} as RFC 7541 appendix C does`, () => {
      const target = Buffer.alloc(200);
      const bytes = Buffer.from(text, 'latin1');
      const length = encodeHuffman(bytes, 0, bytes.length, { target, offset: 0 });
      expect(target.toString('hex', 0, length)).to.equal(hex(code).toString('hex'));
      expect(huffmanLength(bytes, 0, bytes.length)).to.equal(length);
      const back = Buffer.alloc(200);
      expect(back.toString('latin1', 0, decodeHuffman(hex(code), 0, length, back))).to.equal(text);
    });
  }

  it('decodes what it encodes, for every byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1');
        const target = Buffer.alloc(400);
        const length = encodeHuffman(bytes, 0, bytes.length, { target, offset: 3 });
        const back = Buffer.alloc(length * 2 + 1);
        expect(length - 3).to.equal(huffmanLength(bytes, 0, bytes.length));
        expect(back.toString('latin1', 0, decodeHuffman(target, 3, length, back))).to.equal(text);
      }),
    );
  });

  for (const [what, code] of [
    ['more than 7 bits of padding', '1fff'],
    ['padding that is not all ones', '1e'],
    ['the EOS symbol', '3fff ffff ff'],
  ] as const) {
    it(`refuses ${what}`, () => {
      const bytes = hex(code);
      expect(decodeHuffman(bytes, 0, bytes.length, Buffer.alloc(16))).to.equal(-1);
    });
  }
});

describe('HeaderDecoder', () => {
  it('decodes the requests of RFC 7541 C.3 with its dynamic table', () => {
    const decoder = new HeaderDecoder(65_536);
    const first = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'];
    expect(decodeHex(decoder, '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d')).to.deep.equal(first);
    expect(decodeHex(decoder, '8286 84be 5808 6e6f 2d63 6163 6865')).to.deep.equal([
      ...first,
      'cache-control',
      'no-cache',
    ]);
    const third = decodeHex(
      decoder,
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    );
    expect(third?.slice(-4)).to.deep.equal([':authority', 'www.example.com', 'custom-key', 'custom-value']);
  });

  it('decodes the responses of RFC 7541 C.6 with a table of 256 bytes that evicts', () => {
    const decoder = new HeaderDecoder(65_536);
    decodeHex(decoder, '3fe1 01');
    const first = decodeHex(
      decoder,
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
    );
    expect(first).to.deep.equal([
      ':status',
      '302',
      'cache-control',
      'private',
      'date',
      'Mon, 21 Oct 2013 20:13:21 GMT',
      'location',
      'https://www.example.com',
    ]);
    expect(decodeHex(decoder, '4883 640e ffc1 c0bf')?.slice(0, 2)).to.deep.equal([':status', '307']);
    const third = decodeHex(
      decoder,
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    );
    expect(third?.slice(-2)).to.deep.equal([
      'set-cookie',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ]);
    // The table now has set-cookie, content-encoding and the new date; the older location was evicted.
    expect(decodeHex(decoder, 'c0')).to.deep.equal(['date', 'Mon, 21 Oct 2013 20:13:22 GMT']);
    expect(decodeHex(decoder, 'c1')).to.equal(undefined);
  });

  for (const [what, block] of [
    ['index 0', '80'],
    ['an index past both tables', 'be'],
    ['a name index past both tables', '7f 00 01 61'],
    ['an integer without end', 'ff ff ff ff ff ff ff ff ff 01'],
    ['an integer that is cut', 'ff'],
    ['a string that is cut', '40 05 61 62'],
    ['a missing value', '40 01 61'],
    ['a table size above what we allowed', '3f e2 1f'],
    ['a table size update after a field', '82 20'],
    ['EOS in a string', '40 01 61 85 3f ff ff ff ff'],
  ] as const) {
    it(`gives up the connection for ${what}`, () => {
      expect(decodeHex(new HeaderDecoder(65_536), block)).to.equal(undefined);
    });
  }

  for (const [what, name, value] of [
    ['capitals in a name', 'X-a', 'b'],
    ['a blank in a name', 'x a', 'b'],
    ['an empty name', '', 'b'],
    ['a colon inside a name', 'x:a', 'b'],
    ['CR in a value', 'x', 'a\rb'],
    ['LF in a value', 'x', 'a\nb'],
    ['NUL in a value', 'x', 'a\0b'],
    ['a control character in a value', 'x', 'a\x01b'],
    ['a leading blank', 'x', ' a'],
    ['a trailing tab', 'x', 'a\t'],
  ] as const) {
    it(`calls ${what} malformed, also when it is indexed later`, () => {
      const decoder = new HeaderDecoder(65_536);
      const literal = Buffer.from([
        0x40,
        name.length,
        ...Buffer.from(name),
        value.length,
        ...Buffer.from(value),
      ]);
      expect(decoder.decode(literal, 0, literal.length)).to.deep.equal([name, value]);
      expect(decoder.malformed).to.equal(true);
      expect(decodeHex(decoder, '82')).to.deep.equal([':method', 'GET']);
      expect(decoder.malformed).to.equal(false);
      decodeHex(decoder, 'be');
      expect(decoder.malformed).to.equal(true);
    });
  }

  it('keeps underscores and capitals in values, and obs-text', () => {
    const decoder = new HeaderDecoder(65_536);
    expect(decodeHex(decoder, '01 03 41 5f e9')).to.deep.equal([':authority', 'A_\u00e9']);
    expect(decoder.malformed).to.equal(false);
  });

  it('stops collecting past the bound on the list but keeps its table in step', () => {
    const decoder = new HeaderDecoder(200);
    const value = 'v'.repeat(100);
    const block = Buffer.concat([
      Buffer.from([0x40, 1, 97, 100]),
      Buffer.from(value),
      hex('be be 40 01 62 01 63'),
    ]);
    expect(decoder.decode(block, 0, block.length)).to.deep.equal(['a', value]);
    expect(decoder.tooLarge).to.equal(true);
    expect(decodeHex(decoder, 'be')).to.deep.equal(['b', 'c']);
    expect(decoder.tooLarge).to.equal(false);
  });

  it('tells which fields must never be indexed, and changes generation only with the table', () => {
    const decoder = new HeaderDecoder(65_536);
    decodeHex(decoder, '10 01 61 01 62');
    expect(decoder.neverIndexed).to.deep.equal(['a']);
    expect(decoder.generation).to.equal(0);
    decodeHex(decoder, '40 01 61 01 62');
    expect(decoder.neverIndexed).to.equal(undefined);
    expect(decoder.generation).to.equal(1);
  });
});

describe('HeaderEncoder', () => {
  const name = fc.constantFrom(
    ':path',
    'content-type',
    'x-a',
    'x-b',
    'authorization',
    'date',
    'x-long-name-number-three',
  );
  const value = fc.oneof(
    fc.constantFrom('', '/', 'text/plain', 'a', 'b'),
    fc.string({
      maxLength: 300,
      unit: fc.integer({ min: 0x20, max: 0xff }).map((c) => String.fromCharCode(c)),
    }),
  );

  it('is decoded to what was encoded, whatever table sizes the peer asks for', () => {
    const block = fc.record({
      fields: fc.array(fc.tuple(name, value), { maxLength: 12 }),
      limits: fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
        const encoder = new HeaderEncoder();
        const decoder = new HeaderDecoder(1 << 24);
        for (const { fields, limits } of blocks) {
          for (const limit of limits) encoder.limitTable(limit);
          roundTrip(encoder, decoder, fields);
        }
      }),
    );
  });

  it('indexes a value that repeats, and not one that never does', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(65_536);
    const sizes = [0, 1, 2, 3].map((i) =>
      roundTrip(encoder, decoder, [
        ['x-constant', 'the same each time'],
        ['x-unique', `value ${i}`],
        ['content-type', 'application/grpc'],
      ]),
    );
    expect(sizes[3]).to.be.lessThan((sizes[0] ?? 0) / 2);
    expect(decoder.generation).to.equal(2);
  });

  it('puts credentials and what the sender marked as never indexed', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(65_536);
    for (let i = 0; i < 2; i++) {
      const block = encode(encoder, [
        ['authorization', 'Bearer x'],
        ['x-secret', 'y', true],
      ]);
      expect(decoder.decode(block, 0, block.length)).to.deep.equal([
        'authorization',
        'Bearer x',
        'x-secret',
        'y',
      ]);
      expect(decoder.neverIndexed).to.deep.equal(['authorization', 'x-secret']);
    }
    expect(decoder.generation).to.equal(0);
  });

  it('writes statuses with and without an entry of the static table', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(65_536);
    for (const status of [200, 204, 206, 304, 400, 404, 500, 418]) {
      encoder.begin();
      encoder.status(status);
      expect(decoder.decode(encoder.bytes, 0, encoder.length)).to.deep.equal([':status', String(status)]);
    }
  });

  it('forgets names when a peer makes up ever new ones', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(65_536);
    for (let i = 0; i < 2000; i++)
      roundTrip(encoder, decoder, [
        [`x-${i}`, 'v'],
        ['x-kept', 'w'],
      ]);
    expect(roundTrip(encoder, decoder, [['x-kept', 'w']])).to.equal(1);
  });
});
