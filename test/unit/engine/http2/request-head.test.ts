import { expect } from 'chai';
import { MALFORMED, readRequest, type RequestTemplate } from '../../../../src/engine/http2/request-head.js';

const BASE = [':method', 'GET', ':scheme', 'https', ':path', '/a', ':authority', 'a.test'];

/** The basic request with pseudo-header fields replaced, or left out where the value is undefined. */
function head(pseudo: Readonly<Record<string, string | undefined>>, ...fields: string[]): string[] {
  const all: Record<string, string | undefined> = {};
  for (let i = 0; i < BASE.length; i += 2) all[BASE[i] ?? ''] = BASE[i + 1];
  Object.assign(all, pseudo);
  return [
    ...Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...fields,
  ];
}

function read(fields: readonly string[], trusted = false): RequestTemplate {
  const request = readRequest(fields, trusted);
  if (typeof request === 'number') throw new Error(`refused with ${request}`);
  return request;
}

describe('request heads of HTTP/2', () => {
  for (const [title, fields] of [
    [':method twice', [...BASE, ':method', 'GET']],
    [':path twice', [...BASE, ':path', '/a']],
    [':scheme twice', [...BASE, ':scheme', 'https']],
    [':authority twice', [...BASE, ':authority', 'a.test']],
    [':protocol twice', head({ ':method': 'CONNECT' }, ':protocol', 'websocket', ':protocol', 'websocket')],
    ['an unknown pseudo-header field', [...BASE, ':status', '200']],
    ['a pseudo-header field after others', [...BASE.slice(0, 6), 'x', 'y', ':authority', 'a.test']],
    ['no method', head({ ':method': undefined })],
    ['an empty method', head({ ':method': '' })],
    ['a method with a blank', head({ ':method': 'GE T' })],
    ['a method beyond latin-1', head({ ':method': 'G\u0130T' })],
    ['no scheme', head({ ':scheme': undefined })],
    ['no path', head({ ':path': undefined })],
    ['an empty path', head({ ':path': '' })],
    ['a path without a slash', head({ ':path': 'a' })],
    ['an asterisk with another method than OPTIONS', head({ ':path': '*' })],
    ['an empty authority', head({ ':authority': '' })],
    ['Host twice', [...BASE, 'host', 'a.test', 'host', 'a.test']],
    ['Host that contradicts the authority', [...BASE, 'host', 'b.test']],
    ['TE other than trailers', [...BASE, 'te', 'gzip']],
    ['Content-Length twice', [...BASE, 'content-length', '1', 'content-length', '1']],
    ['Content-Length that is no number', [...BASE, 'content-length', '1x']],
    ['Content-Length that is empty', [...BASE, 'content-length', '']],
    ['Content-Length of 16 digits', [...BASE, 'content-length', '1000000000000000']],
    ['Connection', [...BASE, 'connection', 'close']],
    ['Transfer-Encoding', [...BASE, 'transfer-encoding', 'chunked']],
    [':protocol without CONNECT', head({}, ':protocol', 'websocket')],
    ['CONNECT with a path', head({ ':method': 'CONNECT', ':scheme': undefined })],
    ['CONNECT with a scheme', head({ ':method': 'CONNECT', ':path': undefined })],
    [
      'CONNECT without an authority',
      head({ ':method': 'CONNECT', ':scheme': undefined, ':path': undefined, ':authority': undefined }),
    ],
  ] as const) {
    it(`malformed: ${title}`, () => {
      expect(readRequest(fields, false)).to.equal(MALFORMED);
    });
  }

  for (const [title, fields, status] of [
    ['another scheme', head({ ':scheme': 'ftp' }), 400],
    ['a blank in the path', head({ ':path': '/a b' }), 400],
    ['a path beyond latin-1', head({ ':path': '/\u0130' }), 400],
    ['a broken escape in the path', head({ ':path': '/%zz' }), 400],
    ['neither authority nor Host', head({ ':authority': undefined }), 400],
    ['an authority with user information', head({ ':authority': 'u@a.test' }), 400],
    ['CONNECT', [':method', 'CONNECT', ':authority', 'a.test:1'], 501],
    ['another protocol', head({ ':method': 'CONNECT' }, ':protocol', 'connect-udp'), 501],
  ] as const) {
    it(`refused: ${title}`, () => {
      expect(readRequest(fields, false)).to.equal(status);
    });
  }

  it('an extended CONNECT is a GET that upgrades', () => {
    const { method, upgrade } = read(head({ ':method': 'CONNECT' }, ':protocol', 'websocket'));
    expect([method, upgrade]).to.deep.equal(['GET', 'websocket']);
  });

  it('the asterisk is the target of OPTIONS', () => {
    expect(read(head({ ':method': 'OPTIONS', ':path': '*' })).path).to.equal('*');
  });

  it('Host stands in for the authority, and may repeat it in other case', () => {
    expect(read(head({ ':authority': undefined }, 'host', 'b.test')).authority).to.equal('b.test');
    expect(read([...BASE, 'host', 'A.test']).authority).to.equal('a.test');
  });

  it('the path has one form', () => {
    expect(read(head({ ':path': '/a/../b' })).path).to.equal('/b');
  });

  it('crumbs become one cookie, and fields for this hop are taken', () => {
    const request = read([
      ...[...BASE, 'te', 'Trailers', 'cookie', 'a=1', 'cookie', 'b=2', 'content-length', '12'],
      ...['expect', '100-continue', 'x', 'y'],
    ]);
    expect(request).to.deep.include({ contentLength: 12, expectContinue: true, acceptsTrailers: true });
    expect(request.fields).to.deep.equal(['content-length', '12', 'x', 'y', 'cookie', 'a=1; b=2']);
  });

  it('an expectation that nobody knows goes on', () => {
    const request = read([...BASE, 'expect', 'wonders']);
    expect(request).to.deep.include({ expectContinue: false, fields: ['expect', 'wonders'] });
  });

  it('where the request came from is only what trusted peers say', () => {
    const fields = [...BASE, 'x-forwarded-for', '192.0.2.1'];
    expect(read(fields).fields).to.deep.equal([]);
    expect(read(fields, true).fields).to.deep.equal(['x-forwarded-for', '192.0.2.1']);
  });
});
