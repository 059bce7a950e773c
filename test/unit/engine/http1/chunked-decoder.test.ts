import { expect } from 'chai';
import fc from 'fast-check';
import { ChunkedDecoder } from '../../../../src/engine/http1/chunked-decoder.js';

interface Decoded {
  readonly verdict: 'ok' | 'more' | 'refused';
  readonly payload: string;
  readonly rest: string;
  readonly trailers: readonly string[];
}

/** Feeds the text in parts that end at the given offsets. */
function decode(text: string, ends: readonly number[]): Decoded {
  const decoder = new ChunkedDecoder();
  let payload = '';
  let start = 0;
  for (const end of [...ends, text.length]) {
    // A fresh buffer each time, as a read would bring it.
    const buffer = Buffer.from(text.slice(start, end), 'latin1');
    const behind = decoder.decode(buffer, 0, buffer.length);
    if (behind < 0) return { verdict: 'refused', payload: '', rest: '', trailers: [] };
    payload += buffer.toString('latin1', decoder.from, decoder.to);
    start += behind;
    if (decoder.done) {
      return { verdict: 'ok', payload, rest: text.slice(start), trailers: decoder.trailers?.toFlat() ?? [] };
    }
  }
  return { verdict: 'more', payload, rest: '', trailers: [] };
}

const every = (text: string, step: number): number[] =>
  Array.from({ length: Math.ceil(text.length / step) - 1 }, (_, i) => (i + 1) * step);

const cases: readonly (readonly [name: string, text: string, want: Decoded['verdict']])[] = [
  ['one chunk', '5\r\nhello\r\n0\r\n\r\n', 'ok'],
  ['several chunks', '5\r\nhello\r\n1\r\n \r\n00005\r\nworld\r\n0\r\n\r\n', 'ok'],
  ['capital digits', 'A\r\n0123456789\r\n0\r\n\r\n', 'ok'],
  ['extension', '5;a=b\r\nhello\r\n0;c\r\n\r\n', 'ok'],
  ['trailers', '0\r\nX-A: y\r\nX-B: z\r\n\r\n', 'ok'],
  ['unfinished', '5\r\nhel', 'more'],
  ['no last chunk', '5\r\nhello\r\n', 'more'],
  ['LF after the size', '5\nhello\r\n0\r\n\r\n', 'refused'],
  ['no size', '\r\nhello', 'refused'],
  ['negative', '-5\r\nhello', 'refused'],
  ['sign', '+5\r\nhello', 'refused'],
  ['0x', '0x5\r\nhello', 'refused'],
  ['blank behind the size', '5 \r\nhello\r\n', 'refused'],
  ['blank before the size', ' 5\r\nhello\r\n', 'refused'],
  ['size of 14 digits', '1234567890abcd\r\n', 'refused'],
  ['size that overflows', 'fffffffffffff\r\n', 'refused'],
  ['data longer than the size', '5\r\nhelloXX', 'refused'],
  ['data that ends in LF', '5\r\nhello\n0\r\n\r\n', 'refused'],
  ['LF in an extension', '5;a\nb\r\nhello', 'refused'],
  ['CR in an extension', '5;a\rb\r\nhello', 'refused'],
  ['endless extensions', '1;' + 'a'.repeat(20_000), 'refused'],
  ['trailer that ends in LF', '0\r\nX: y\n\r\n', 'refused'],
  ['folded trailer', '0\r\nX: y\r\n z\r\n\r\n', 'refused'],
  ['LF as the end', '0\r\n\n', 'refused'],
  ['endless trailers', '0\r\nX: ' + 'a'.repeat(10_000), 'refused'],
  ['trailer that frames', '0\r\nTransfer-Encoding: gzip\r\n\r\n', 'refused'],
];

describe('ChunkedDecoder', () => {
  for (const [name, text, want] of cases) {
    it(`${name} → ${want}, in parts of any size`, () => {
      for (const step of text.length > 1000 ? [text.length, 700] : [text.length, 1, 2, 3, 7]) {
        expect(decode(text, every(text, step)).verdict, `by ${String(step)}`).to.equal(want);
      }
    });
  }

  it('leaves what follows, and takes only harmless trailers', () => {
    const text = '3\r\nabc\r\n0\r\nX-Sum: 1\r\nContent-Length: 5\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n';
    for (const step of [1, 5, 1000]) {
      const { payload, rest, trailers } = decode(text, every(text, step));
      expect([payload, rest, trailers]).to.deep.equal(['abc', 'GET / HTTP/1.1\r\n', ['x-sum', '1']]);
    }
  });

  it('agrees with a naive encoder at any split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' }), { maxLength: 6 }),
        fc.array(fc.nat(300), { maxLength: 6 }),
        (chunks, splits) => {
          const text =
            chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('') + '0\r\n\r\n';
          const ends = [...new Set(splits)].filter((end) => end < text.length).sort((a, b) => a - b);
          const { verdict, payload } = decode(text, ends);
          return verdict === 'ok' && payload === chunks.join('');
        },
      ),
    );
  });
});
