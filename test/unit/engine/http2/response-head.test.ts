import { expect } from 'chai';
import { readTrailers } from '../../../../src/engine/http2/field-rules.js';
import { readResponse } from '../../../../src/engine/http2/response-head.js';

describe('response heads of HTTP/2', () => {
  for (const [title, fields] of [
    ['nothing', []],
    ['no status', ['x', 'y']],
    ['a status without a value', [':status']],
    ['a status of two digits', [':status', '99']],
    ['a status below 100', [':status', '099']],
    ['a status with a letter', [':status', '20x']],
    ['101', [':status', '101']],
    ['a second status', [':status', '200', ':status', '200']],
    ['Upgrade', [':status', '200', 'upgrade', 'h2c']],
    ['Content-Length twice', [':status', '200', 'content-length', '1', 'content-length', '1']],
    ['Content-Length below zero', [':status', '200', 'content-length', '-1']],
  ] as const) {
    it(`malformed: ${title}`, () => {
      expect(readResponse(fields)).to.equal(undefined);
    });
  }

  it('say what goes on', () => {
    expect(readResponse([':status', '204', 'x', 'y', 'content-length', '0'])).to.deep.equal({
      status: 204,
      contentLength: 0,
      fields: ['x', 'y', 'content-length', '0'],
    });
  });
});

describe('trailers of HTTP/2', () => {
  it('are malformed with pseudo-header fields or fields of a connection', () => {
    expect(readTrailers(['x', 'y', ':path', '/'])).to.equal(undefined);
    expect(readTrailers(['keep-alive', '1'])).to.equal(undefined);
  });

  it('lose what would change the message', () => {
    expect(readTrailers(['content-length', '3', 'x', 'y', 'set-cookie', 'a'])).to.deep.equal(['x', 'y']);
  });
});
