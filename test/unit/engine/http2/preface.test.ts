import { expect } from 'chai';
import { isForeignPreface } from '../../../../src/engine/http2/preface.js';

describe('isForeignPreface', () => {
  const cases: readonly (readonly [string, boolean])[] = [
    ['INVALID CONNECTION PREFACE\r\n\r\n', true],
    ['GET / HTTP/1.1\r\n', false],
    ['GET / FTP/1.1\r\n', false],
    ['GET /\r\n', false],
    ['OPTIONS * HTTP/1.1\r\n', false],
    ['CONNECT a:443 HTTP/1.1\r\n', false],
    ['INVALID CONNECTION PREF', false],
  ];
  for (const [text, want] of cases) {
    it(`says ${String(want)} of ${JSON.stringify(text)}`, () => {
      const bytes = Buffer.from(text);
      expect(isForeignPreface(bytes, 0, bytes.length)).to.equal(want);
    });
  }
});
