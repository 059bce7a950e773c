import { expect } from 'chai';
import type { ExternalAuth } from '../../../../../src/ir/http-filter.js';
import { FieldList } from '../../../../../src/engine/exchange/fields.js';
import { PlainResponseHead, type RequestHead } from '../../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../../src/engine/exchange/piece.js';
import { ANSWERED, type StepOutcome, SUSPENDED } from '../../../../../src/engine/exchange/route-entry.js';
import { TimerWheel } from '../../../../../src/engine/exchange/timer-wheel.js';
import type { UpstreamHandler, UpstreamTarget } from '../../../../../src/engine/exchange/upstream.js';
import { compileExternalAuth } from '../../../../../src/engine/filters/external-auth/external-auth.js';
import { FakeExchange, fieldsOf } from '../../../../support/engine/fake-exchange.js';

const FILTER: ExternalAuth = {
  type: 'external-auth',
  protocol: 'http',
  upstream: 'u',
  path: '/check/',
  allowedRequestHeaders: ['X-Token'],
  allowedResponseHeaders: ['X-User'],
  forwardBodyBytes: 0,
};

/** A service that the test plays. */
class Service implements UpstreamTarget {
  readonly key = 'u';
  asked: RequestHead | undefined;
  body = '';
  aborted = false;
  handler: UpstreamHandler | undefined;
  unavailable = false;

  choose(): ReturnType<UpstreamTarget['choose']> {
    if (this.unavailable) return { status: 503, reason: 'no endpoint' };
    const endpoint = { address: '10.0.0.9', port: 80 };
    return {
      endpoint,
      active: 0,
      retire: () => undefined,
      close: () => undefined,
      open: ({ head, piece }, handler) => {
        this.asked = head;
        this.body = piece.view().toString();
        this.handler = handler;
        return {
          reused: false,
          endpoint,
          sendData: () => 0,
          sendTrailers: () => undefined,
          resume: () => undefined,
          tunnelEnd: () => undefined,
          abort: () => {
            this.aborted = true;
          },
        };
      },
    };
  }

  answer(status: number, flat: string[] = [], body = ''): void {
    const bytes = Buffer.from(body);
    this.handler?.onUpstreamHead(
      new PlainResponseHead(status, new FieldList(flat)),
      new Piece().set(bytes, 0, bytes.length, true),
    );
  }
}

describe('external authorization over HTTP', () => {
  let service: Service;
  let nowMs = 0;
  let wheel: TimerWheel;

  beforeEach(() => {
    service = new Service();
    nowMs = 0;
    wheel = new TimerWheel(20, () => nowMs);
  });

  function run(exchange: FakeExchange, filter: Partial<ExternalAuth> = {}): StepOutcome {
    return compileExternalAuth({ ...FILTER, ...filter }, service, wheel).requestStep.run(exchange);
  }

  it('asks with host, method, path and the allowed headers', () => {
    const headers = { authorization: 'Bearer x', 'x-token': 't', cookie: 'secret' };
    const exchange = new FakeExchange({ method: 'PUT', target: '/a?b=1', authority: 'a.test:80', headers });
    expect(run(exchange)).to.equal(SUSPENDED);
    expect(service.asked).to.include({
      method: 'PUT',
      authority: 'a.test:80',
      path: '/check/a?b=1',
      contentLength: 0,
    });
    expect(fieldsOf(service.asked!.fields)).to.deep.equal({ authorization: 'Bearer x', 'x-token': 't' });
  });

  it('lets a request pass at 200, with what the service says and nothing that the client made up', () => {
    const exchange = new FakeExchange({ headers: { 'x-user': 'admin', 'x-other': '1' } });
    run(exchange);
    expect(exchange.proceeded).to.equal(0);
    service.answer(200, ['x-user', 'alice', 'x-internal', '1']);
    expect(exchange.proceeded).to.equal(1);
    expect(fieldsOf(exchange.request.fields)).to.deep.equal({ 'x-other': '1', 'x-user': 'alice' });
    const spoofed = new FakeExchange({ headers: { 'x-user': 'admin' } });
    run(spoofed);
    service.answer(200);
    expect(fieldsOf(spoofed.request.fields)).to.deep.equal({});
  });

  it('takes every header of the answer when the list is empty, but for what speaks of the answer itself', () => {
    const exchange = new FakeExchange({ headers: { 'x-user': 'admin', 'content-type': 'text/plain' } });
    run(exchange, { allowedResponseHeaders: [] });
    service.answer(200, [
      'x-user',
      'alice',
      'x-role',
      'a',
      'x-role',
      'b',
      'content-type',
      'text/html',
      'host',
      'evil',
    ]);
    expect(fieldsOf(exchange.request.fields)).to.deep.equal({
      'content-type': 'text/plain',
      'x-user': 'alice',
      'x-role': 'a | b',
    });
  });

  it('gives any other answer to the client', () => {
    const exchange = new FakeExchange();
    run(exchange);
    service.answer(401, ['www-authenticate', 'Basic'], 'who?');
    expect(exchange.proceeded).to.equal(0);
    expect([exchange.status, exchange.body]).to.deep.equal([401, 'who?']);
    expect(exchange.sent).to.deep.equal({ 'www-authenticate': 'Basic', 'content-length': '4' });
    for (const status of [201, 204, 304]) {
      const odd = new FakeExchange();
      run(odd);
      service.answer(status);
      expect(odd.status).to.equal(403);
    }
  });

  it('denies when the service fails, does not answer, or is not there', () => {
    const failed = new FakeExchange();
    run(failed);
    service.handler?.onUpstreamFailure({ kind: 'connect', detail: 'ECONNREFUSED' });
    expect(failed.refusedWith?.status).to.equal(503);
    const late = new FakeExchange();
    run(late);
    nowMs = 10_100;
    wheel.advance();
    expect(late.refusedWith?.status).to.equal(504);
    expect(service.aborted).to.equal(true);
    service.answer(200);
    expect(late.proceeded, 'too late').to.equal(0);
    service.unavailable = true;
    const alone = new FakeExchange();
    expect(run(alone)).to.equal(ANSWERED);
    expect(alone.refusedWith?.status).to.equal(503);
  });

  it('cuts a denial that is too long and does nothing for a client that left', () => {
    const exchange = new FakeExchange();
    run(exchange);
    service.answer(403, [], 'x'.repeat(70_000));
    expect([exchange.status, exchange.body]).to.deep.equal([403, '']);
    const gone = new FakeExchange();
    run(gone);
    gone.closed = true;
    service.answer(200);
    expect(gone.proceeded).to.equal(0);
  });

  for (const [limit, sent] of [
    [100, 'hello world'],
    [5, 'hello'],
  ] as const) {
    it(`sends ${limit} bytes of the body at most`, () => {
      const exchange = new FakeExchange({ method: 'POST' });
      exchange.request.contentLength = 11;
      exchange.collectBody = (most, done) => {
        const bytes = Buffer.from('hello world');
        exchange.bodyTap?.onBody(new Piece().set(bytes, 0, bytes.length, true));
        done(bytes.length > most ? undefined : bytes);
      };
      expect(run(exchange, { forwardBodyBytes: limit })).to.equal(SUSPENDED);
      expect(service.body).to.equal(sent);
      expect(service.asked?.fields.get('content-length')).to.equal(String(sent.length));
    });
  }
});
