import * as grpc from '@grpc/grpc-js';
import { expect } from 'chai';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import { ANSWERED, SUSPENDED } from '../../../../src/engine/exchange/route-entry.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import type { UpstreamTarget } from '../../../../src/engine/exchange/upstream.js';
import {
  compileExternalAuth,
  type CompiledAuthorization,
} from '../../../../src/engine/filters/external-auth/external-auth.js';
import type { ExternalAuth } from '../../../../src/ir/http-filter.js';
import { decodeCheck, encodeVerdict, headerOf, type SeenCheck } from '../../../support/engine/ext-authz.js';
import { FakeExchange, fieldsOf } from '../../../support/engine/fake-exchange.js';
import { Http2Bench } from '../../../support/engine/http2-bench.js';

const FILTER: ExternalAuth = {
  type: 'external-auth',
  protocol: 'grpc',
  upstream: 'u',
  path: '',
  allowedRequestHeaders: [],
  allowedResponseHeaders: [],
  forwardBodyBytes: 0,
};

const same = (bytes: Buffer): Buffer => bytes;
const SERVICE = {
  check: {
    path: '/envoy.service.auth.v3.Authorization/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
} as const;

type Answer = (
  seen: SeenCheck,
  call: grpc.ServerUnaryCall<Buffer, Buffer>,
) => Buffer | grpc.status | undefined;

describe('external authorization over gRPC', () => {
  let bench: Http2Bench;
  let server: grpc.Server;
  let target: UpstreamTarget;
  let answer: Answer;
  let seen: SeenCheck | undefined;

  beforeEach(async () => {
    bench = new Http2Bench();
    seen = undefined;
    answer = () => encodeVerdict({ status: { code: 0 } });
    server = new grpc.Server();
    server.addService(SERVICE, {
      check(call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>): void {
        seen = decodeCheck(call.request);
        const said = answer(seen, call);
        if (typeof said === 'number') done({ code: said, details: 'as asked' });
        else if (said) done(null, said);
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    const connector = bench.connector(port);
    target = { key: 'u', choose: () => connector };
  });

  afterEach(async () => {
    server.forceShutdown();
    await bench.close();
  });

  /** Runs the filter to its end. */
  async function run(
    exchange: FakeExchange,
    filter: Partial<ExternalAuth> = {},
  ): Promise<CompiledAuthorization> {
    const compiled = compileExternalAuth({ ...FILTER, ...filter }, target, bench.wheel);
    const settled = new Promise<void>((resolve) => (exchange.onSettled = resolve));
    expect(compiled.requestStep.run(exchange)).to.equal(SUSPENDED);
    await settled;
    return compiled;
  }

  it('tells who asks for what, and an OK lets it pass', async () => {
    let timeout: unknown;
    answer = (_seen, call) => {
      timeout = Number(call.getDeadline()) - Date.now();
      return encodeVerdict({ status: { code: 0 }, later: 7 });
    };
    const headers = { authorization: 'Bearer x', 'x-name': 'J\xc3\xbcrgen' };
    const exchange = new FakeExchange(
      { method: 'PUT', target: '/a?b=1', authority: 'a.test:80', headers },
      { context: { remoteAddress: '192.0.2.7', remotePort: 4711 } },
    );
    exchange.request.fields.add('x-list', '1');
    exchange.request.fields.add('x-list', '2');
    await run(exchange);
    expect(exchange.proceeded).to.equal(1);
    expect(timeout).to.be.within(5_000, 10_000);
    expect(seen?.attributes.request.http).to.deep.include({
      method: 'PUT',
      path: '/a?b=1',
      host: 'a.test:80',
      scheme: 'http',
      protocol: 'HTTP/1.1',
      headers: { authorization: 'Bearer x', 'x-name': 'Jürgen', 'x-list': '1,2' },
    });
    expect(seen?.attributes.source.address.socketAddress).to.deep.equal({
      address: '192.0.2.7',
      portValue: 4711,
    });
  });

  it('tells only the allowed headers', async () => {
    const exchange = new FakeExchange({ headers: { authorization: 'x', cookie: 'secret', 'x-token': 't' } });
    await run(exchange, { allowedRequestHeaders: ['X-Token'] });
    expect(seen?.attributes.request.http.headers).to.deep.equal({ 'x-token': 't' });
  });

  it('changes the request and the response as the service says', async () => {
    answer = () =>
      encodeVerdict({
        status: { code: 0 },
        okResponse: {
          headers: [
            headerOf('X-User', 'alice'),
            headerOf('x-tag', 'two', { append: { value: true } }),
            headerOf('x-tag', 'three', { append: { value: true } }),
            headerOf('x-if-absent', 'new', { appendAction: 1 }),
            headerOf('x-if-there', 'new', { appendAction: 3 }),
            headerOf('host', 'evil.test'),
          ],
          headersToRemove: ['Cookie', 'host'],
          responseHeadersToAdd: [headerOf('set-cookie', 'a=1'), headerOf('set-cookie', 'b=2')],
        },
      });
    const headers = { 'x-user': 'admin', 'x-tag': 'one', 'x-if-absent': 'old', cookie: 'c' };
    const exchange = new FakeExchange({ headers });
    const { responseStep } = await run(exchange);
    expect(fieldsOf(exchange.request.fields)).to.deep.equal({
      'x-tag': 'one | two | three',
      'x-if-absent': 'old',
      'x-user': 'alice',
    });
    const head = new PlainResponseHead(200, new FieldList(['set-cookie', 'own=1']));
    responseStep?.run(exchange, head);
    expect(head.fields.getAll('set-cookie')).to.deep.equal(['own=1', 'a=1', 'b=2']);
    const other = new PlainResponseHead(200);
    responseStep?.run(new FakeExchange(), other);
    expect(fieldsOf(other.fields), 'another request').to.deep.equal({});
  });

  it('gives a denial to the client, with its status, headers and body', async () => {
    answer = () =>
      encodeVerdict({
        status: { code: 16 },
        deniedResponse: {
          status: { code: 401 },
          headers: [headerOf('www-authenticate', 'Basic'), headerOf('connection', 'close')],
          body: 'who are you?',
        },
      });
    const exchange = new FakeExchange();
    await run(exchange);
    expect([exchange.proceeded, exchange.status, exchange.body]).to.deep.equal([0, 401, 'who are you?']);
    expect(exchange.sent).to.deep.equal({ 'www-authenticate': 'Basic', 'content-length': '12' });
  });

  const denials: readonly (readonly [string, Readonly<Record<string, unknown>>, number])[] = [
    ['without a response', { status: { code: 7 } }, 403],
    ['with a status of success', { status: { code: 7 }, deniedResponse: { status: { code: 200 } } }, 403],
    ['without a status, but with a denial', { deniedResponse: { status: { code: 429 } } }, 429],
    ['that says OK as well', { status: { code: 0 }, deniedResponse: {} }, 403],
    ['that says nothing', {}, 403],
  ];
  for (const [title, response, status] of denials) {
    it(`denies at an answer ${title}`, async () => {
      answer = () => encodeVerdict(response);
      const exchange = new FakeExchange();
      await run(exchange);
      expect([exchange.proceeded, exchange.status]).to.deep.equal([0, status]);
    });
  }

  const failures: readonly (readonly [string, Answer])[] = [
    ['an error of the service', () => grpc.status.INTERNAL],
    ['bytes that are no message', () => Buffer.from([0x0a, 0x7f, 0x01])],
    ['a header that splits the message', () => encodeVerdict(okWith(headerOf('x', 'a\r\nb: c')))],
    ['a header without a name', () => encodeVerdict(okWith(headerOf('', 'a')))],
    [
      'a change of the query, which is not made',
      () => encodeVerdict({ status: {}, okResponse: { queryParametersToSet: [{ key: 'a', value: 'b' }] } }),
    ],
    ['an answer that is too long', () => encodeVerdict({ status: { message: 'x'.repeat(300_000) } })],
  ];
  for (const [title, said] of failures) {
    it(`denies at ${title}`, async () => {
      answer = said;
      const exchange = new FakeExchange();
      await run(exchange);
      expect([exchange.proceeded, exchange.refusedWith?.status]).to.deep.equal([0, 503]);
    });
  }

  it('denies when nobody answers in time, is there, or speaks gRPC', async () => {
    answer = () => undefined;
    const late = new FakeExchange();
    let nowMs = 0;
    const wheel = new TimerWheel(20, () => nowMs);
    compileExternalAuth(FILTER, target, wheel).requestStep.run(late);
    nowMs = 10_100;
    wheel.advance();
    expect(late.refusedWith?.status).to.equal(504);
    const none: UpstreamTarget = { key: 'u', choose: () => ({ status: 503, reason: 'no endpoint' }) };
    const alone = new FakeExchange();
    expect(compileExternalAuth(FILTER, none, bench.wheel).requestStep.run(alone)).to.equal(ANSWERED);
    expect(alone.refusedWith?.status).to.equal(503);
    const dead = bench.connector(1);
    target = { key: 'u', choose: () => dead };
    const refused = new FakeExchange();
    await run(refused);
    expect(refused.refusedWith?.status).to.equal(503);
  });

  it('knows no other method of the service', async () => {
    server.removeService(SERVICE);
    const exchange = new FakeExchange();
    await run(exchange);
    expect(exchange.refusedWith).to.deep.equal({
      status: 503,
      detail: 'external authorization: gRPC status 12',
    });
  });

  for (const [title, bytes, limit, want] of [
    ['whole', Buffer.from('hello'), 100, { body: 'hello', rawBody: '' }],
    ['cut', Buffer.from('hello'), 2, { body: 'he', rawBody: '' }],
    ['as bytes when it is no text', Buffer.from([0xff, 0xfe]), 100, { body: '', rawBody: '//4=' }],
  ] as const) {
    it(`tells the body, ${title}`, async () => {
      const exchange = new FakeExchange({ method: 'POST' });
      exchange.request.contentLength = bytes.length;
      exchange.collectBody = (most, done) => {
        exchange.bodyTap?.onBody(new Piece().set(bytes, 0, bytes.length, true));
        done(bytes.length > most ? undefined : bytes);
      };
      await run(exchange, { forwardBodyBytes: limit });
      expect(seen?.attributes.request.http).to.deep.include({ ...want, size: bytes.length });
    });
  }
});

function okWith(header: object): Readonly<Record<string, unknown>> {
  return { status: { code: 0 }, okResponse: { headers: [header] } };
}
