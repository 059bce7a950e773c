import { expect } from 'chai';
import { HeaderAssembler } from '../../../../src/engine/http2/header-assembler.js';

const PROTOCOL = 1;
const CALM = 11;
const END_HEADERS = 4;

function payload(text: string): { buffer: Buffer; start: number; end: number } {
  const buffer = Buffer.from(text, 'latin1');
  return { buffer, start: 0, end: buffer.length };
}

const blockOf = ({ buffer, start, end }: HeaderAssembler): string => buffer.toString('latin1', start, end);

describe('header blocks of HTTP/2, put together', () => {
  for (const [title, flags, text, block, selfDependent] of [
    ['plain', END_HEADERS, 'abc', 'abc', false],
    ['padded', END_HEADERS | 8, '\x02abc\0\0', 'abc', false],
    ['with priority', END_HEADERS | 0x20, '\0\0\0\x07\x10abc', 'abc', false],
    ['that depends on itself', END_HEADERS | 0x20, '\x80\0\0\x05\x10abc', 'abc', true],
    ['padded, with priority', END_HEADERS | 0x28, '\x01\0\0\0\x07\x10abc\0', 'abc', false],
  ] as const) {
    it(`one ${title}`, () => {
      const assembler = new HeaderAssembler();
      expect(assembler.begin(flags, 5, payload(text))).to.equal(0);
      expect(assembler).to.include({ complete: true, selfDependent, stream: 0 });
      expect(blockOf(assembler)).to.equal(block);
    });
  }

  for (const [title, flags, text] of [
    ['longer padding than payload', END_HEADERS | 8, '\x04abc'],
    ['no place for its padding length', END_HEADERS | 8, ''],
    ['no place for its priority', END_HEADERS | 0x20, '\0\0\0\x07'],
    ['padding that leaves no place for its priority', END_HEADERS | 0x28, '\x03\0\0\0\x07\x10'],
  ] as const) {
    it(`none with ${title}`, () => {
      expect(new HeaderAssembler().begin(flags, 5, payload(text))).to.equal(PROTOCOL);
    });
  }

  it('one in parts', () => {
    const assembler = new HeaderAssembler();
    expect(assembler.begin(1, 5, payload('ab'))).to.equal(0);
    expect(assembler).to.include({ complete: false, stream: 5, endsStream: true });
    expect(assembler.go(0, payload('cd'))).to.equal(0);
    expect(assembler.go(END_HEADERS, payload('e'))).to.equal(0);
    expect(assembler).to.include({ complete: true, stream: 0 });
    expect(blockOf(assembler)).to.equal('abcde');
  });

  it('none without a beginning', () => {
    expect(new HeaderAssembler().go(END_HEADERS, payload('a'))).to.equal(PROTOCOL);
  });

  it('none too long, nor in too many parts', () => {
    const long = new HeaderAssembler();
    long.begin(0, 5, payload('a'.repeat(65_536)));
    expect(long.go(0, payload(''))).to.equal(0);
    expect(long.go(0, payload('a'))).to.equal(CALM);
    const many = new HeaderAssembler();
    many.begin(0, 5, payload('a'));
    for (let i = 0; i < 16; i++) expect(many.go(0, payload(''))).to.equal(0);
    expect(many.go(END_HEADERS, payload(''))).to.equal(CALM);
  });
});
