import { expect } from 'chai';
import fc from 'fast-check';
import { PlainRequestHead } from '../../../../../src/engine/exchange/heads.js';
import {
  decodeCheckResponse,
  encodeCheckRequest,
} from '../../../../../src/engine/filters/external-auth/check-messages.js';
import { ProtoWriter, readMessage } from '../../../../../src/engine/filters/external-auth/protobuf.js';
import {
  decodeCheck,
  encodeVerdict,
  headerOf,
  type SeenCheck,
} from '../../../../support/engine/ext-authz.js';
import { FakeExchange } from '../../../../support/engine/fake-exchange.js';

describe('messages of ext_authz', () => {
  it('are read by another library as they were written', () => {
    const names = fc.stringMatching(/^[a-z-]{1,20}$/);
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.string()),
        fc.webPath(),
        fc.oneof(fc.constant(-1), fc.nat()),
        (headers, path, size) => {
          const exchange = new FakeExchange({ target: path });
          exchange.request.contentLength = size;
          const seen = decodeCheck(encodeCheckRequest(exchange, Object.entries(headers), undefined));
          expect(seen.attributes.request.http.path).to.equal(path);
          expect(seen.attributes.request.http.size).to.equal(size);
          expect(Object.keys(seen.attributes.request.http.headers)).to.have.members(Object.keys(headers));
        },
      ),
    );
  });

  it('are read as another library has written them', () => {
    const text = fc.stringMatching(/^[!-~]{0,40}$/);
    const value = fc.record({ name: fc.stringMatching(/^[a-z-]{1,20}$/), value: text });
    fc.assert(
      fc.property(fc.array(value), fc.integer({ min: 300, max: 599 }), fc.string(), (headers, code, body) => {
        const bytes = encodeVerdict({
          status: { code: 7, message: body },
          deniedResponse: {
            status: { code },
            headers: headers.map((one) => headerOf(one.name, one.value)),
            body,
          },
        });
        expect(decodeCheckResponse(bytes)).to.deep.equal({
          allowed: false,
          status: code === 304 ? 403 : code,
          headers: headers.map((one) => ({ ...one, action: 'overwrite' })),
          body: Buffer.from(body),
        });
      }),
    );
  });

  it('never allow what is not whole', () => {
    const ok = encodeVerdict({
      status: { code: 0, message: 'fine' },
      okResponse: { headersToRemove: ['x'] },
    });
    expect(decodeCheckResponse(ok)).to.include({ allowed: true });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        // Whatever comes, it is read or refused, and never throws.
        const answer = decodeCheckResponse(Buffer.from(bytes));
        return answer === undefined || !answer.allowed || readMessage(Buffer.from(bytes)) !== undefined;
      }),
    );
    for (const tag of [3, 4, 6, 7])
      expect(readMessage(Buffer.from([8 + tag])), `wire type ${tag}`).to.equal(undefined);
    expect(readMessage(Buffer.from([0x0a, 5, 1])), 'cut').to.equal(undefined);
    expect(readMessage(Buffer.alloc(11, 0xff)), 'a number without an end').to.equal(undefined);
    expect(readMessage(Buffer.from([0x02, 0])), 'field 0').to.equal(undefined);
  });

  it('keep numbers up to 2^53', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: 100_000 }), (value, field) => {
        const [first] = readMessage(new ProtoWriter().number(field, value).finish()) ?? [];
        expect([first?.field ?? field, first?.number ?? 0]).to.deep.equal([field, value]);
      }),
    );
  });
});

describe('requests that ext_authz is asked about', () => {
  function http(
    exchange: FakeExchange,
    value = '',
    body?: Buffer,
  ): SeenCheck['attributes']['request']['http'] {
    return decodeCheck(encodeCheckRequest(exchange, [['x', value]], body)).attributes.request.http;
  }

  for (const [protocol, told] of [
    ['1.1', 'HTTP/1.1'],
    ['2.0', 'HTTP/2'],
  ] as const) {
    it(`tell version ${protocol} in the form of the protocol`, () => {
      const exchange = new FakeExchange();
      const { method, scheme, authority, path } = exchange.request;
      exchange.request = new PlainRequestHead({ method, scheme, authority, path, protocol });
      expect(http(exchange).protocol).to.equal(told);
    });
  }

  it('tell values as text, whatever their bytes', () => {
    const exchange = new FakeExchange();
    expect(http(exchange, Buffer.from('é').toString('latin1')).headers).to.deep.equal({ x: 'é' });
    expect(http(exchange, '\xff').headers).to.deep.equal({ x: 'ÿ' });
  });

  it('have bodies that are no text in a field of their own', () => {
    const exchange = new FakeExchange();
    expect(http(exchange, '', Buffer.from('text'))).to.include({ body: 'text', rawBody: '' });
    expect(http(exchange, '', Buffer.of(0xff))).to.include({ body: '', rawBody: '/w==' });
    expect(http(exchange)).to.include({ body: '', rawBody: '' });
  });
});

describe('verdicts of ext_authz', () => {
  const ok = { status: { code: 0 } };
  const raw = (field: number, inner: ProtoWriter): Buffer => new ProtoWriter().message(field, inner).finish();
  const broken = Buffer.of(0x0a, 5, 1);

  for (const [title, bytes] of [
    ['whose status is a number', new ProtoWriter().number(1, 1).finish()],
    ['whose status is cut', new ProtoWriter().bytes(1, broken).finish()],
    ['whose denial is cut', new ProtoWriter().bytes(2, broken).finish()],
    ['whose allowance is cut', new ProtoWriter().bytes(3, broken).finish()],
    ['that deny with a status that is cut', raw(2, new ProtoWriter().bytes(1, broken))],
    ['that deny with a header that is a number', raw(2, new ProtoWriter().number(2, 1))],
    ['that allow with a header that is a number', raw(3, new ProtoWriter().number(2, 1))],
    ['that allow with an option that is cut', raw(3, new ProtoWriter().bytes(2, broken))],
    [
      'that allow with an option without a header',
      raw(3, new ProtoWriter().message(2, new ProtoWriter().number(3, 1))),
    ],
    [
      'that allow with a header that is cut',
      raw(3, new ProtoWriter().message(2, new ProtoWriter().bytes(1, broken))),
    ],
    [
      'that allow with a header without a name',
      encodeVerdict({ ...ok, okResponse: { headers: [headerOf('', 'y')] } }),
    ],
    [
      'that allow with a line break in a value',
      encodeVerdict({ ...ok, okResponse: { headers: [headerOf('x', 'a\r\nb')] } }),
    ],
    [
      'that allow with a name that is none',
      encodeVerdict({ ...ok, okResponse: { responseHeadersToAdd: [headerOf('x y', 'a')] } }),
    ],
    [
      'that change the query',
      encodeVerdict({ ...ok, okResponse: { queryParametersToSet: [{ key: 'a', value: 'b' }] } }),
    ],
  ] as const) {
    it(`${title} are none`, () => {
      expect(decodeCheckResponse(bytes)).to.equal(undefined);
    });
  }

  it('do not allow when they say nothing, or both', () => {
    expect(decodeCheckResponse(Buffer.alloc(0))).to.include({ allowed: false, status: 403 });
    const both = encodeVerdict({ ...ok, okResponse: {}, deniedResponse: { status: { code: 401 } } });
    expect(decodeCheckResponse(both)).to.include({ allowed: false, status: 401 });
  });

  it('allow by their status, or by the allowance alone', () => {
    expect(decodeCheckResponse(encodeVerdict({ okResponse: {} }))).to.include({ allowed: true });
    expect(decodeCheckResponse(encodeVerdict(ok))).to.include({ allowed: true });
  });

  for (const [title, more, action] of [
    ['nothing', {}, 'overwrite'],
    ['append', { append: { value: true } }, 'append'],
    ['append: false', { append: { value: false }, appendAction: 1 }, 'overwrite'],
    ['append_action 1', { appendAction: 1 }, 'add-if-absent'],
    ['append_action 3', { appendAction: 3 }, 'overwrite-if-exists'],
    ['an unknown append_action', { appendAction: 9 }, 'overwrite'],
  ] as const) {
    it(`change a header of the request as asked: ${title}`, () => {
      const bytes = encodeVerdict({ ...ok, okResponse: { headers: [headerOf('X', ' y ', more)] } });
      expect(decodeCheckResponse(bytes)).to.deep.equal({
        allowed: true,
        requestHeaders: [{ name: 'x', value: 'y', action }],
        requestHeadersToRemove: [],
        responseHeaders: [],
      });
    });
  }

  it('append to headers of the response, with raw values and none', () => {
    const headers = [{ header: { key: 'a', rawValue: Buffer.from('raw') } }, { header: { key: 'b' } }];
    const bytes = encodeVerdict({
      ...ok,
      okResponse: { responseHeadersToAdd: headers, headersToRemove: ['X'] },
    });
    expect(decodeCheckResponse(bytes)).to.deep.include({
      requestHeadersToRemove: ['x'],
      responseHeaders: [
        { name: 'a', value: 'raw', action: 'append' },
        { name: 'b', value: '', action: 'append' },
      ],
    });
  });
});
