import { expect } from 'chai';
import { HeaderDecoder } from '../../../../../src/engine/http2/hpack/header-decoder.js';
import { HeaderEncoder } from '../../../../../src/engine/http2/hpack/header-encoder.js';
import { decodeHuffman, encodeHuffman } from '../../../../../src/engine/http2/hpack/huffman.js';
import { FieldBlock, FieldList } from '../../../../../src/engine/exchange/fields.js';

function decode(decoder: HeaderDecoder, hex: string): string[] | undefined {
  const block = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return decoder.decode(block, 0, block.length);
}

describe('header blocks that end the connection', () => {
  for (const [title, hex] of [
    ['index 0', '80'],
    ['an index of an entry that is not there', 'be'],
    ['an index without an end', 'ff'],
    ['an index that goes on for ever', 'ff ff ff ff ff 01'],
    ['a literal whose name has an index that is not there', '7e 01 61'],
    ['a literal whose index is cut', '7f'],
    ['a literal without a name', '40'],
    ['a literal whose name is cut', '40 03 61'],
    ['a literal without a value', '40 01 61'],
    ['a literal whose value is cut', '40 01 61 05 62'],
    ['a length that is cut', '40 7f'],
    ['a name with bad Huffman padding', '40 81 00 01 61'],
    ['a value that holds EOS', '40 01 61 84 ff ff ff ff'],
    ['a table larger than allowed', '3f e2 1f'],
    ['a table size that is cut', '3f'],
    ['a table size after a field', '82 20'],
  ] as const) {
    it(title, () => {
      expect(decode(new HeaderDecoder(65_536), hex)).to.equal(undefined);
    });
  }
});

describe('header blocks that end their stream', () => {
  for (const [title, hex] of [
    ['an empty name', '00 00 01 61'],
    ['a colon alone inside a name', '00 03 61 3a 62 01 61'],
    ['a name in capitals', '00 01 41 01 61'],
    ['a value that begins with a blank', '00 01 61 02 20 62'],
    ['a value that ends with a tab', '00 01 61 02 62 09'],
    ['a line break in a value', '00 01 61 03 62 0a 62'],
  ] as const) {
    it(title, () => {
      const decoder = new HeaderDecoder(65_536);
      expect(decode(decoder, hex)).to.have.length(2);
      expect(decoder.malformed).to.equal(true);
      // The next block is judged on its own.
      expect(decode(decoder, '82')).to.deep.equal([':method', 'GET']);
      expect(decoder.malformed).to.equal(false);
    });
  }

  it('a name from the table that was malformed when it came', () => {
    const decoder = new HeaderDecoder(65_536);
    decode(decoder, '40 01 41 01 61');
    expect(decode(decoder, '7e 01 62')).to.deep.equal(['A', 'b']);
    expect(decoder.malformed).to.equal(true);
  });

  it('an entry larger than the table empties it', () => {
    const decoder = new HeaderDecoder(65_536);
    expect(decode(decoder, '40 01 61 01 62 be')).to.deep.equal(['a', 'b', 'a', 'b']);
    // 2 * 32 + 2 bytes do not fit into 33.
    expect(decode(decoder, '3f 02 40 01 61 01 62')).to.deep.equal(['a', 'b']);
    expect(decode(decoder, 'be')).to.equal(undefined);
  });
});

describe('long header blocks', () => {
  it('grow the buffers that decoding and encoding share', () => {
    const text = 'é~^'.repeat(20_000);
    const encoder = new HeaderEncoder();
    encoder.begin();
    encoder.field('x', text);
    const block = Buffer.from(encoder.bytes.subarray(0, encoder.length));
    expect(new HeaderDecoder(1_000_000).decode(block, 0, block.length)).to.deep.equal(['x', text]);
  });

  it('are Huffman coded up to any length', () => {
    const text = 'a'.repeat(9000);
    const coded = Buffer.alloc(9000);
    const length = encodeHuffman(Buffer.from(text), 0, text.length, { target: coded, offset: 0 });
    const size = Buffer.of(0xff, ((length - 127) & 0x7f) | 0x80, (length - 127) >> 7);
    const block = Buffer.concat([Buffer.of(0, 1, 0x78), size, coded.subarray(0, length)]);
    expect(new HeaderDecoder(65_536).decode(block, 0, block.length)).to.deep.equal(['x', text]);
  });

  it('with a prepared beginning are the same the first and the second time', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(65_536);
    const base = new FieldBlock(['x', 'one', 'server', 'two']);
    for (let round = 0; round < 4; round++) {
      encoder.begin();
      encoder.fields(new FieldList([], base));
      const block = Buffer.from(encoder.bytes.subarray(0, encoder.length));
      expect(decoder.decode(block, 0, block.length)).to.deep.equal(['x', 'one', 'server', 'two']);
    }
  });

  for (const status of [200, 204, 206, 304, 400, 404, 500, 503]) {
    it(`tell status ${status}`, () => {
      const encoder = new HeaderEncoder();
      encoder.begin();
      encoder.status(status);
      const block = Buffer.from(encoder.bytes.subarray(0, encoder.length));
      expect(new HeaderDecoder(65_536).decode(block, 0, block.length)).to.deep.equal([
        ':status',
        String(status),
      ]);
    });
  }
});

describe('Huffman codes that are none', () => {
  for (const [title, hex] of [
    ['EOS', 'ffffffff'],
    ['padding of eight bits', '1fff'],
    ['padding with zeros', '18'],
  ] as const) {
    it(title, () => {
      const source = Buffer.from(hex, 'hex');
      expect(decodeHuffman(source, 0, source.length, Buffer.alloc(16))).to.equal(-1);
    });
  }
});
