import { expect } from 'chai';
import fc from 'fast-check';
import { parseRequestHead, parseResponseHead } from '../../../../src/engine/http1/parse-head.js';
import { parseNaively } from '../../../support/engine/naive-request-parser.js';
import { RawRequestHead, RawResponseHead } from '../../../../src/engine/http1/raw-heads.js';

type Verdict = 'ok' | 'more' | 'refused';

function verdict(text: string): { verdict: Verdict; head: RawRequestHead; result: number } {
  const head = new RawRequestHead();
  const bytes = Buffer.from(text, 'latin1');
  const result = parseRequestHead(bytes, 0, bytes.length, head);
  return { verdict: result > 0 ? 'ok' : result === 0 ? 'more' : 'refused', head, result };
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';

/** The smuggling corpus: what two servers could read in two ways. */
const requests: readonly (readonly [name: string, text: string, want: Verdict])[] = [
  ['plain', GET + '\r\n', 'ok'],
  ['H-01 CL then TE', POST + 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', 'refused'],
  ['H-01 TE then CL', POST + 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n', 'refused'],
  ['H-01 two equal CL', POST + 'Content-Length: 5\r\nContent-Length: 5\r\n\r\n', 'refused'],
  ['H-01 two different CL', POST + 'Content-Length: 5\r\nContent-Length: 6\r\n\r\n', 'refused'],
  ['H-01 CL list', POST + 'Content-Length: 5, 5\r\n\r\n', 'refused'],
  ['H-01 CL +5', POST + 'Content-Length: +5\r\n\r\n', 'refused'],
  ['H-01 CL -1', POST + 'Content-Length: -1\r\n\r\n', 'refused'],
  ['H-01 CL 0x5', POST + 'Content-Length: 0x5\r\n\r\n', 'refused'],
  ['H-01 CL empty', POST + 'Content-Length: \r\n\r\n', 'refused'],
  ['H-01 CL 1e3', POST + 'Content-Length: 1e3\r\n\r\n', 'refused'],
  ['H-01 CL huge', POST + 'Content-Length: 99999999999999999999\r\n\r\n', 'refused'],
  ['H-01 CL with white space around', POST + 'Content-Length: \t5 \r\n\r\n', 'ok'],
  ['H-01 CL with white space within', POST + 'Content-Length: 5 5\r\n\r\n', 'refused'],
  ['H-01 two TE', POST + 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n', 'refused'],
  ['H-01 TE gzip, chunked', POST + 'Transfer-Encoding: gzip, chunked\r\n\r\n', 'refused'],
  ['H-01 TE chunked, identity', POST + 'Transfer-Encoding: chunked, identity\r\n\r\n', 'refused'],
  ['H-01 TE xchunked', POST + 'Transfer-Encoding: xchunked\r\n\r\n', 'refused'],
  ['CVE-2022-32213 TE chunkedchunked', POST + 'Transfer-Encoding: chunkedchunked\r\n\r\n', 'refused'],
  ['H-01 TE identity', POST + 'Transfer-Encoding: identity\r\n\r\n', 'refused'],
  ['H-01 TE empty', POST + 'Transfer-Encoding: \r\n\r\n', 'refused'],
  ['H-01 TE with vertical tab', POST + 'Transfer-Encoding: \x0bchunked\r\n\r\n', 'refused'],
  ['H-01 TE with blank before colon', POST + 'Transfer-Encoding : chunked\r\n\r\n', 'refused'],
  ['H-01 TE in quotes', POST + 'Transfer-Encoding: "chunked"\r\n\r\n', 'refused'],
  ['H-01 TE in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n', 'refused'],
  ['H-01 TE in capitals', POST + 'TRANSFER-ENCODING: CHUNKED\r\n\r\n', 'ok'],
  ['CVE-2024-27982 blank before Content-Length', POST + ' Content-Length: 5\r\n\r\n', 'refused'],
  ['CVE-2022-32215 folded TE', POST + 'Transfer-Encoding: chunked\r\n , identity\r\n\r\n', 'refused'],
  ['CVE-2022-32214 line ends in LF', POST + 'Content-Length: 5\nX: y\r\n\r\n', 'refused'],
  ['CVE-2022-35256 head without CRLF end', POST + 'X: y\n\nbody', 'refused'],
  ['CVE-2023-30589 CR alone as delimiter', POST + 'X: y\rContent-Length: 5\r\n\r\n', 'refused'],
  ['CVE-2025-23167 head ends in CRLF CR X', GET + '\rX', 'refused'],
  ['folded line', GET + 'X: a\r\n b\r\n\r\n', 'refused'],
  ['folded line by tab', GET + 'X: a\r\n\tb\r\n\r\n', 'refused'],
  ['blank before the request line', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['LF after the request line', 'GET / HTTP/1.1\nHost: a\r\n\r\n', 'refused'],
  ['LF in a value', GET + 'X: a\nY: b\r\n\r\n', 'refused'],
  ['LF as the empty line', GET + '\n', 'refused'],
  ['CR in a value', GET + 'X: a\rb\r\n\r\n', 'refused'],
  ['CR CR LF', GET + 'X: a\r\r\n\r\n', 'refused'],
  ['NUL in a value', GET + 'X: a\0b\r\n\r\n', 'refused'],
  ['NUL in a name', GET + 'X\0: b\r\n\r\n', 'refused'],
  ['DEL in a value', GET + 'X: \x7f\r\n\r\n', 'refused'],
  ['obs-text in a value', GET + 'X: \xe9\r\n\r\n', 'ok'],
  ['no colon', GET + 'Xab\r\n\r\n', 'refused'],
  ['no name', GET + ': b\r\n\r\n', 'refused'],
  ['blank in a name', GET + 'X Y: b\r\n\r\n', 'refused'],
  ['blank before the colon', GET + 'X : b\r\n\r\n', 'refused'],
  ['no value', GET + 'X:\r\n\r\n', 'ok'],
  ['Host twice', GET + 'Host: b\r\n\r\n', 'refused'],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 'refused'],
  ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 'ok'],
  ['empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', 'refused'],
  ['Host with a user', 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n', 'refused'],
  ['Host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 'refused'],
  ['Host list', 'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n', 'refused'],
  ['Host with two ports', 'GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n', 'refused'],
  ['Host with a bad port', 'GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n', 'refused'],
  ['A-08 Host with a port', 'GET / HTTP/1.1\r\nHost: a.test:8080\r\n\r\n', 'ok'],
  ['Host is IPv6', 'GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n', 'ok'],
  ['Host is half IPv6', 'GET / HTTP/1.1\r\nHost: [::1\r\n\r\n', 'refused'],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 'refused'],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 'refused'],
  ['HTTP/1.10', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n', 'refused'],
  ['http/1.1', 'GET / http/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['HTTP/0.9', 'GET /\r\n', 'refused'],
  ['two blanks', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['tab as separator', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['blank in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['blank after the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n', 'refused'],
  ['control character in the target', 'GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['obs-text in the target', 'GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['bad method', 'G(T / HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['long method', `${'M'.repeat(33)} / HTTP/1.1\r\nHost: a\r\n\r\n`, 'refused'],
  ['own method', 'PURGE / HTTP/1.1\r\nHost: a\r\n\r\n', 'ok'],
  ['M-08 raw fragment', 'GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['raw backslash', 'GET /x\\..\\admin HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['M-07 %00', 'GET /admin%00 HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['broken escape', 'GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['broken escape in the query', 'GET /a?b=% HTTP/1.1\r\nHost: a\r\n\r\n', 'ok'],
  ['escaped backslash that hides dots', 'GET /x/..%5cadmin HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['escaped backslash as data', 'GET /x/a%5cb HTTP/1.1\r\nHost: a\r\n\r\n', 'ok'],
  ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['* for GET', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['* for OPTIONS', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 'ok'],
  ['no slash', 'GET a HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['absolute ftp', 'GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['absolute with a user', 'GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['absolute without authority', 'GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['absolute https on a clear connection', 'GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n', 'refused'],
  ['absolute without Host', 'GET http://a/ HTTP/1.1\r\n\r\n', 'refused'],
  ['incomplete', GET + 'X: a', 'more'],
  ['100 fields', GET + 'X: a\r\n'.repeat(99) + '\r\n', 'ok'],
  ['101 fields', GET + 'X: a\r\n'.repeat(100) + '\r\n', 'refused'],
  ['64 KiB head', GET + `X: ${'a'.repeat(64 * 1024)}\r\n\r\n`, 'refused'],
  ['more than 64 KiB without an end', GET + `X: ${'a'.repeat(64 * 1024)}`, 'refused'],
  ['17 KiB target', `GET /${'a'.repeat(17 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`, 'refused'],
  ['Connection malformed', GET + 'Connection: close;x\r\n\r\n', 'refused'],
  ['Expect unknown', POST + 'Expect: 200-maybe\r\nContent-Length: 1\r\n\r\n', 'refused'],
];

describe('parseRequestHead', () => {
  for (const [name, text, want] of requests) {
    it(`${name} → ${want}`, () => {
      expect(verdict(text).verdict).to.equal(want);
    });

    it(`${name} → the same when it comes in pieces`, () => {
      const bytes = Buffer.from(text, 'latin1');
      const step = bytes.length > 1000 ? 997 : 1;
      const head = new RawRequestHead();
      let result = 0;
      for (let end = step; result === 0 && end < bytes.length + step; end += step) {
        result = parseRequestHead(bytes, 0, Math.min(end, bytes.length), head);
      }
      expect(result > 0 ? 'ok' : result === 0 ? 'more' : 'refused').to.equal(want);
    });
  }

  it('says which status', () => {
    expect(verdict('GET / HTTP/2.0\r\nHost: a\r\n\r\n').result).to.equal(-505);
    expect(verdict(GET + 'X: a\r\n'.repeat(100) + '\r\n').result).to.equal(-431);
    expect(verdict(`GET /${'a'.repeat(17 * 1024)} HTTP/1.1\r\n`).result).to.equal(-414);
    expect(verdict(POST + 'Expect: x\r\nContent-Length: 1\r\n\r\n').result).to.equal(-417);
    expect(verdict('GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n').result).to.equal(-421);
  });

  it('reads method, path, authority, fields and framing', () => {
    const { head } = verdict(
      'PUT /a/b?c=d HTTP/1.1\r\nHost: App.Test:8080\r\nX-One: 1\r\nContent-Length: 12\r\nx-one:  2 \r\n\r\n',
    );
    expect(head.method).to.equal('PUT');
    expect(head.path).to.equal('/a/b?c=d');
    expect(head.queryStart).to.equal(4);
    expect(head.authority).to.equal('App.Test:8080');
    expect(head.hostname).to.equal('app.test');
    expect(head.contentLength).to.equal(12);
    expect(head.close).to.equal(false);
    expect(head.fields.get('x-one')).to.equal('1');
    expect(head.fields.getAll('x-one')).to.deep.equal(['1', '2']);
    expect(head.fields.get('content-length')).to.equal('12');
    expect(head.fields.has('host')).to.equal(false);
  });

  it('M-08 absolute form beats Host', () => {
    const { head } = verdict('GET http://other.test?a=1 HTTP/1.1\r\nHost: app.test\r\nX: y\r\n\r\n');
    expect(head.authority).to.equal('other.test');
    expect(head.path).to.equal('/?a=1');
    expect(head.isHostRaw).to.equal(false);
    expect(head.fields.toList().toFlat()).to.deep.equal(['x', 'y']);
  });

  it('W-05 drops Upgrade: h2c and upgrades with a body', () => {
    const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n';
    const h2c = verdict(GET + upgrade + 'Upgrade: h2c\r\n\r\n').head;
    expect(h2c.upgrade).to.equal('');
    expect(h2c.fields.toList().toFlat()).to.deep.equal([]);
    expect(verdict(GET + 'Connection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n').head.upgrade).to.equal(
      'websocket',
    );
    expect(verdict(GET + 'Upgrade: websocket\r\n\r\n').head.upgrade).to.equal('');
    const withBody = 'Content-Length: 3\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    expect(verdict(POST + withBody).head.upgrade).to.equal('');
  });

  it('W-05 takes no upgrade when more than one is asked for', () => {
    for (const lines of [
      'Upgrade: a\r\n'.repeat(2),
      'Upgrade: a\r\n'.repeat(3),
      'Upgrade: h2c\r\nUpgrade: a\r\n',
    ])
      expect(verdict(GET + 'Connection: Upgrade\r\n' + lines + '\r\n').head.upgrade).to.equal('');
  });

  it('H-06 drops hop-by-hop fields and H-05 those that Connection names, and what only the gateway may say', () => {
    const { head } = verdict(
      GET +
        'Connection: x-drop, X-Forwarded-For, Host, Content-Length, keep-alive\r\nKeep-Alive: timeout=5\r\n' +
        'Proxy-Connection: a\r\nProxy-Authorization: b\r\nTE: trailers\r\nTrailer: c\r\nX-Drop: d\r\nX-Keep: e\r\n' +
        'X-Forwarded-For: 6.6.6.6\r\nX_Forwarded_Proto: https\r\nX-Trickster-Result: hit\r\nCache-Status: x\r\n\r\n',
    );
    expect(head.fields.toList().toFlat()).to.deep.equal(['x-keep', 'e']);
    expect(head.acceptsTrailers).to.equal(true);
    expect(head.isHostRaw).to.equal(true);
  });

  it('keeps X-Forwarded-* of a trusted peer', () => {
    const head = new RawRequestHead();
    head.trusted = true;
    const bytes = Buffer.from(GET + 'X-Forwarded-For: 6.6.6.6\r\n\r\n');
    expect(parseRequestHead(bytes, 0, bytes.length, head)).to.equal(bytes.length);
    expect(head.hasForwarded).to.equal(true);
    expect(head.fields.get('x-forwarded-for')).to.equal('6.6.6.6');
  });

  it('outlives its buffer when retained', () => {
    const bytes = Buffer.from('xxxx' + GET + 'X-A: b\r\nConnection: close\r\nX-C: d\r\n\r\n', 'latin1');
    const head = new RawRequestHead();
    parseRequestHead(bytes, 4, bytes.length, head);
    head.retain();
    bytes.fill(0);
    expect(head.path).to.equal('/');
    expect(head.authority).to.equal('a');
    const out = Buffer.alloc(200);
    const end = head.fields.writeHttp1(out, 0);
    expect(out.toString('latin1', 0, end)).to.equal('Host: a\r\nX-A: b\r\nX-C: d\r\n');
  });

  it('never throws, and agrees with itself at any split', () => {
    const token = fc.constantFrom(
      'GET ', 'POST ', '/', '/a/../b', '%2e', ' HTTP/1.1', ' HTTP/1.0', '\r\n', '\n', '\r', 'Host: a', 'Host:b\r\n',
      'Content-Length: 3', 'Transfer-Encoding: chunked', 'X: ', 'y', ' ', '\t', ':', '\0', 'Connection: close', '#',
    ); // prettier-ignore
    fc.assert(
      fc.property(fc.array(token, { maxLength: 14 }), fc.nat(40), (tokens, split) => {
        const bytes = Buffer.from(tokens.join('') + '\r\n\r\n', 'latin1');
        const whole = parseRequestHead(bytes, 0, bytes.length, new RawRequestHead());
        const head = new RawRequestHead();
        const first = parseRequestHead(bytes, 0, Math.min(split, bytes.length), head);
        const result = first === 0 ? parseRequestHead(bytes, 0, bytes.length, head) : first;
        return Math.sign(result) === Math.sign(whole);
      }),
      { numRuns: 500 },
    );
  });
});

describe('parseRequestHead, compared with a plain reading of the rules', () => {
  const mostly = (good: readonly string[], bad: readonly string[]): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...good) },
      { weight: 1, arbitrary: fc.constantFrom(...bad) },
    );
  const blank = fc.constantFrom('', ' ', '\t', ' \t ');
  const strange = fc.constantFrom(
    '\r', '\n', '\0', '\x7f', '\x0b', '\xe9', ' ', '\t', ':', ',', ';', '"', '%', '/', '.', '?', '#', '\\', '_', '*', '5', 'a',
  ); // prettier-ignore
  const target = fc.oneof(
    fc.array(fc.constantFrom('/', '/a', '..', '.', '%2e', '%2E', '%2f', '%5c', '%41', '%00', '%zz', '?', '?b=%', '//', ';v', '#', '*'), {
      minLength: 1,
      maxLength: 7,
    }).map((parts) => parts.join('')),
    fc.constantFrom('/', '*', 'http://b.test', 'http://b.test:80/x/../y', 'HTTP://b?q', 'http://u@b/', 'https://b/', 'a', ''),
  ); // prettier-ignore
  const name = fc.constantFrom(
    'Host', 'host', 'Content-Length', 'content-length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'TE', 'Expect',
    'Keep-Alive', 'X-Forwarded-For', 'x_forwarded_for', 'X-Trickster-Result', 'cache_status', 'X-A', 'x_a', 'Trailer',
    'Proxy-Authorization', 'Cookie', 'X A', '',
  ); // prettier-ignore
  const value = fc.constantFrom(
    'a', 'a.test', 'a.test:80', '[::1]:8', '0', '5', '05', '+5', '5, 5', '0x5', '999999999999999', '9999999999999999',
    'chunked', 'CHUNKED', 'chunked, identity', 'gzip', 'close', 'keep-alive', 'Upgrade', 'close, x-a', 'upgrade,, X-A ,',
    'websocket', 'h2c', 'trailers', 'gzip, trailers', 'trailers;q=1', '100-continue', '100-Continue', 'x', '', 'host, content-length',
  ); // prettier-ignore
  const usual = fc.tuple(
    fc.constantFrom('X-A', 'x_a', 'Cookie', 'x_forwarded_for', 'X-Real-IP', 'Cache-Status', 'TE', 'Trailer', 'Date'),
    blank,
    fc.constantFrom('a', 'trailers', '', 'a, b', '\xe9'),
    blank,
  ); // prettier-ignore
  const framing = fc.constantFrom(
    ['Content-Length', ' ', '5', ''] as const,
    ['Transfer-Encoding', ' ', 'chunked', ''] as const,
    ['Connection', ' ', 'Upgrade, x-a', ''] as const,
    ['Upgrade', ' ', 'websocket', ''] as const,
    ['Expect', ' ', '100-continue', ''] as const,
  );
  const field = fc
    .oneof(
      { weight: 3, arbitrary: usual },
      { weight: 2, arbitrary: framing },
      { weight: 1, arbitrary: fc.tuple(name, blank, value, blank) },
    )
    .map(([key, before, text, after]) => `${key}:${before}${text}${after}\r\n`);
  const head = fc
    .record({
      method: mostly(['GET', 'POST', 'OPTIONS'], ['CONNECT', 'get', 'X-1', 'G(', '']),
      target: fc.oneof(fc.constantFrom('/', '/a?b'), target),
      version: mostly(['HTTP/1.1', 'HTTP/1.0'], ['HTTP/1.2', 'HTTP/2.0', 'http/1.1']),
      host: mostly(['Host: a.test\r\n'], ['']),
      fields: fc.array(field, { maxLength: 5 }),
      // A head that is not as it was meant: some bytes put in or taken away.
      damage: fc.oneof(
        fc.constant([]),
        fc.array(fc.record({ at: fc.nat(1000), gone: fc.nat(2), put: strange }), { maxLength: 2 }),
      ),
    })
    .map(({ method, target: to, version, host, fields, damage }) => {
      let text = `${method} ${to} ${version}\r\n${host}${fields.join('')}`;
      for (const { at, gone, put } of damage) {
        const where = at % (text.length + 1);
        text = text.slice(0, where) + put + text.slice(where + gone);
      }
      return `${text}\r\n\r\n`;
    });

  it('refuses what it refuses, and understands the same of the rest', () => {
    let understood = 0;
    fc.assert(
      fc.property(head, (text) => {
        const want = parseNaively(text);
        const { verdict: got, head: seen } = verdict(text);
        const read = {
          method: seen.method,
          path: seen.path,
          authority: seen.authority,
          contentLength: seen.contentLength,
          close: seen.close,
          upgrade: seen.upgrade,
          expectContinue: seen.expectContinue,
          acceptsTrailers: seen.acceptsTrailers,
          fields: seen.fields.toList().toFlat(),
        };
        expect(got === 'ok' ? read : undefined).to.deep.equal(want);
        if (want) understood++;
      }),
      { numRuns: 4_000 },
    );
    expect(understood, 'heads that are good').to.be.greaterThan(400);
  });
});

const responses: readonly (readonly [name: string, text: string, want: Verdict])[] = [
  ['plain', 'HTTP/1.1 200 OK\r\nA: b\r\n\r\n', 'ok'],
  ['no reason', 'HTTP/1.1 200 \r\n\r\n', 'ok'],
  ['no blank before no reason', 'HTTP/1.1 200\r\n\r\n', 'ok'],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n', 'ok'],
  ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n', 'refused'],
  ['two digits', 'HTTP/1.1 20 OK\r\n\r\n', 'refused'],
  ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'refused'],
  ['CL and TE', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 'refused'],
  ['two CL', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n', 'refused'],
  ['TE gzip', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n', 'refused'],
  ['TE in 1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'refused'],
  ['folded', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n', 'refused'],
  ['LF only', 'HTTP/1.1 200 OK\nA: b\n\n', 'refused'],
  ['not HTTP', 'SSH-2.0-OpenSSH\r\n', 'refused'],
  ['incomplete', 'HTTP/1.1 200 O', 'more'],
];

describe('parseResponseHead', () => {
  for (const [name, text, want] of responses) {
    it(`${name} → ${want}, also byte by byte`, () => {
      const bytes = Buffer.from(text, 'latin1');
      const head = new RawResponseHead();
      const whole = parseResponseHead(bytes, 0, bytes.length, head);
      let result = 0;
      for (let end = 0; result === 0 && end <= bytes.length; end++)
        result = parseResponseHead(bytes, 0, end, head);
      expect(Math.sign(result)).to.equal(Math.sign(whole));
      expect(whole > 0 ? 'ok' : whole === 0 ? 'more' : 'refused').to.equal(want);
    });
  }

  it('reads status, framing and keep-alive', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\nKeep-Alive: timeout=5, max=10\r\nConnection: keep-alive, x\r\nX: 1\r\n\r\n',
    );
    const head = new RawResponseHead();
    parseResponseHead(bytes, 0, bytes.length, head);
    expect(head.status).to.equal(404);
    expect(head.contentLength).to.equal(7);
    expect(head.keepAliveSeconds).to.equal(5);
    expect(head.close).to.equal(false);
    expect(head.fields.toList().toFlat()).to.deep.equal(['content-length', '7']);
  });
});
