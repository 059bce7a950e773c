import { expect } from 'chai';
import type { RetryPolicy } from '../../../../src/ir/http.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { PlainRequestHead, PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import type { HttpExchange } from '../../../../src/engine/exchange/http-exchange.js';
import { HttpExchangeRunner } from '../../../../src/engine/exchange/http-exchange-runner.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import { SWALLOW } from '../../../../src/engine/exchange/response-cache.js';
import type { Unavailable, UpstreamFailure } from '../../../../src/engine/exchange/upstream.js';
import { FAILED, PENDING, WRITTEN } from '../../../../src/engine/wire/wire.js';
import { exchangeBetween as setUp, Tap } from '../../../support/engine/exchange-between.js';

function part(text = '', last = false): Piece {
  const bytes = Buffer.from(text);
  return new Piece().set(bytes, 0, bytes.length, last);
}

const answer = (status: number): PlainResponseHead => new PlainResponseHead(status);
const failure = (kind: UpstreamFailure['kind']): UpstreamFailure => ({ kind, detail: kind });
const unavailable = (status: number): Unavailable => ({ status, reason: 'none' });
const policy = (extra: Partial<RetryPolicy> = {}): RetryPolicy => ({
  attempts: 1,
  codes: [503],
  backoffMs: 0,
  ...extra,
});

describe('HttpExchange', () => {
  it('relays an answer and ends once', () => {
    const { client, ended, exchange } = setUp();
    exchange.onUpstreamInformational(answer(103));
    expect(exchange.onUpstreamHead(answer(200), part('a'))).to.equal(WRITTEN);
    exchange.onUpstreamInformational(answer(103));
    exchange.onResponseDrain();
    exchange.onUpstreamData(part('b', true));
    expect(client.heard).to.deep.equal(['interim 103', 'head 200', 'data a', 'data b.', 'release']);
    expect(ended).to.deep.equal(['complete 200']);
  });

  it('hears nothing after its end', () => {
    const { client, ended, exchange, tick } = setUp();
    exchange.onUpstreamHead(answer(200), part('a', true));
    const { length } = client.heard;
    expect(exchange.onRequestData(part('x'))).to.equal(WRITTEN);
    expect(exchange.onUpstreamHead(answer(200), part('', true))).to.equal(FAILED);
    expect(exchange.onUpstreamData(part('x'))).to.equal(FAILED);
    expect(exchange.respondData(part('x'))).to.equal(FAILED);
    const source = { resume: () => undefined, cancel: () => undefined };
    expect(exchange.respondHead(answer(200), part(), source)).to.equal(FAILED);
    exchange.onRequestTrailers(new FieldList());
    exchange.onUpstreamTrailers(new FieldList());
    exchange.onUpstreamDrain();
    exchange.onUpstreamInformational(answer(103));
    exchange.onUpstreamFailure(failure('truncated'));
    exchange.respondTrailers(new FieldList());
    exchange.respondAbort('late');
    exchange.onRequestAbort('late');
    exchange.answer(answer(200));
    exchange.forward();
    exchange.proceed();
    tick();
    expect(client.heard).to.have.length(length);
    expect(ended).to.deep.equal(['complete 200']);
  });

  describe('the body of the request', () => {
    it('flows to the backend, which may hold it back', () => {
      const { attempts, client, exchange } = setUp({ method: 'POST', first: 'a', last: false });
      const [attempt] = attempts;
      expect(attempt?.body).to.equal('a');
      if (attempt) attempt.outcome = PENDING;
      expect(exchange.onRequestData(part('b'))).to.equal(PENDING);
      exchange.onUpstreamDrain();
      exchange.onUpstreamDrain();
      expect(client.heard).to.deep.equal(['resume body']);
      exchange.onRequestTrailers(new FieldList(['x-sum', '1']));
      expect(attempt?.heard).to.deep.equal(['data b', 'trailers']);
    });

    it('is refused when it grows beyond the limit', () => {
      const { attempts, client, ended, exchange } = setUp({ method: 'POST', last: false, limit: 2 });
      expect(exchange.onRequestData(part('abc'))).to.equal(WRITTEN);
      expect(client.heard).to.include('head 413');
      expect(attempts[0]?.heard).to.deep.equal(['abort']);
      expect(ended).to.deep.equal(['gateway 413']);
    });

    it('breaks off what was answered already', () => {
      const { client, ended, exchange } = setUp({ method: 'POST', last: false, limit: 2 });
      exchange.onUpstreamHead(answer(200), part('x'));
      exchange.onRequestData(part('abc'));
      expect(client.heard).to.include('abort');
      expect(ended).to.deep.equal(['gateway 200']);
    });

    it('waits for the next attempt, trailers included', () => {
      const { attempts, client, exchange, tick } = setUp({
        method: 'PUT',
        first: 'a',
        last: false,
        retry: policy(),
      });
      exchange.onUpstreamHead(answer(503), part('no', true));
      expect(client.heard).to.deep.equal(['pause body']);
      expect(exchange.onRequestData(part('b'))).to.equal(WRITTEN);
      exchange.onRequestTrailers(new FieldList(['x-sum', '1']));
      tick();
      expect(attempts[1]?.body).to.equal('ab');
      expect(attempts[1]?.heard).to.deep.equal(['trailers']);
    });
  });

  describe('another attempt', () => {
    it('follows an answer that the policy does not take', () => {
      const { attempts, client, exchange, tick } = setUp({ retry: policy() });
      expect(exchange.onUpstreamHead(answer(503), part('no'))).to.equal(FAILED);
      expect(attempts[0]?.heard).to.deep.equal(['abort']);
      tick();
      exchange.onUpstreamHead(answer(503), part('still', true));
      expect(client.heard).to.deep.equal(['head 503', 'data still.', 'release']);
      expect(attempts).to.have.length(2);
    });

    it('must be within the budget', () => {
      const budget = { percent: 0, intervalMs: 10_000, minRetriesPerSecond: 0 };
      const answered = setUp({ retry: policy({ budget }) });
      answered.exchange.onUpstreamHead(answer(503), part('', true));
      expect(answered.ended).to.deep.equal(['complete 503']);
      const failed = setUp({ retry: policy({ budget }) });
      failed.exchange.onUpstreamFailure(failure('timeout'));
      expect(failed.ended).to.deep.equal(['gateway 504']);
      const granted = setUp({ retry: policy({ budget: { ...budget, minRetriesPerSecond: 1 } }) });
      granted.exchange.onUpstreamFailure(failure('early'));
      granted.tick();
      expect(granted.attempts).to.have.length(2);
    });

    it('is paced by default', () => {
      const { attempts, ended, exchange, tick } = setUp({ retry: { attempts: 1, codes: [] } });
      exchange.onUpstreamFailure(failure('connect'));
      exchange.onRequestAbort('gone');
      tick();
      expect(attempts).to.have.length(1);
      expect(ended).to.deep.equal(['client 0']);
    });

    it('replaces a dead connection, once', () => {
      const { attempts, ended, exchange } = setUp({ reused: true });
      exchange.onUpstreamFailure(failure('early'));
      expect(attempts).to.have.length(2);
      exchange.onUpstreamFailure(failure('early'));
      expect(attempts).to.have.length(2);
      expect(ended).to.deep.equal(['gateway 503']);
    });

    it('is made at another endpoint when there is one', () => {
      const other = setUp({ choices: [1, 2] });
      other.exchange.onUpstreamFailure(failure('connect'));
      expect(other.attempts.map(({ endpoint }) => endpoint.port)).to.deep.equal([1, 2]);
      const none = setUp({ choices: [1, unavailable(500)] });
      none.exchange.onUpstreamFailure(failure('connect'));
      expect(none.ended).to.deep.equal(['gateway 503']);
    });

    it('is not made for a body that is no longer there', () => {
      const { attempts, ended, exchange } = setUp({ method: 'POST', first: 'a', last: false });
      exchange.onRequestData(part('b', true));
      exchange.onUpstreamFailure(failure('connect'));
      expect(attempts).to.have.length(1);
      expect(ended).to.deep.equal(['gateway 503']);
    });
  });

  it('refuses without a backend to ask', () => {
    const none = setUp({ choices: [unavailable(503)] });
    expect(none.ended).to.deep.equal(['gateway 503']);
    const nothing = setUp({ upstream: undefined });
    expect(nothing.ended).to.deep.equal(['gateway 500']);
    const grpc = setUp({ choices: [unavailable(503)], isGrpc: true });
    expect(grpc.client.heard).to.deep.equal(['head 200', 'data .', 'release']);
    expect(grpc.ended).to.deep.equal(['gateway 200']);
  });

  it('breaks off an answer that ends early', () => {
    const { client, ended, exchange } = setUp();
    exchange.onUpstreamHead(answer(200), part('a'));
    exchange.onUpstreamFailure(failure('truncated'));
    expect(client.heard.slice(2)).to.deep.equal(['abort', 'release']);
    expect(ended).to.deep.equal(['upstream 200']);
  });

  describe('a client that is gone', () => {
    it('ends the attempt', () => {
      for (const send of [
        (exchange: HttpExchange) => exchange.onUpstreamHead(answer(200), part('a')),
        (exchange: HttpExchange) => {
          exchange.answer(answer(200), Buffer.from('a'));
          return FAILED;
        },
      ]) {
        const { attempts, client, ended, exchange } = setUp();
        client.outcome = FAILED;
        expect(send(exchange)).to.equal(FAILED);
        expect(attempts[0]?.heard).to.deep.equal(['abort']);
        expect(ended).to.deep.equal(['client 200']);
      }
    });

    it('is noticed within the body', () => {
      const { attempts, client, ended, exchange } = setUp();
      exchange.onUpstreamHead(answer(200), part('a'));
      client.outcome = FAILED;
      expect(exchange.onUpstreamData(part('b'))).to.equal(FAILED);
      expect(attempts[0]?.heard).to.deep.equal(['abort']);
      expect(ended).to.deep.equal(['client 200']);
    });

    it('does not end a fetch that the store wants', () => {
      const tap = new Tap();
      tap.isWanted = true;
      const { attempts, client, ended, exchange } = setUp({ tap });
      exchange.onUpstreamHead(answer(200), part('a'));
      exchange.onRequestAbort('gone');
      expect(client.heard.at(-1)).to.equal('release');
      expect(attempts[0]?.heard).to.deep.equal(['resume']);
      expect(exchange.onUpstreamData(part('b'))).to.equal(WRITTEN);
      exchange.onUpstreamTrailers(new FieldList(['x-sum', '1']));
      expect(tap.heard).to.deep.equal(['head', 'data a', 'data b', 'end']);
      expect(ended).to.deep.equal(['client 200']);
      expect(client.heard.filter((line) => line === 'release')).to.have.length(1);
    });

    it('ends a stored answer on its way', () => {
      const { ended, exchange } = setUp({ choices: [1] });
      const calls: string[] = [];
      const source = { resume: () => calls.push('resume'), cancel: () => calls.push('cancel') };
      expect(exchange.respondHead(answer(200), part('a'), source)).to.equal(WRITTEN);
      exchange.onResponseDrain();
      exchange.onRequestAbort('gone');
      expect(calls).to.deep.equal(['resume', 'cancel']);
      expect(ended).to.deep.equal(['client 200']);
    });
  });

  describe('an answer for the tap alone', () => {
    it('does not reach the client', () => {
      const tap = new Tap();
      tap.verdict = SWALLOW;
      const { client, exchange } = setUp({ tap });
      expect(exchange.onUpstreamHead(answer(304), part('a'))).to.equal(WRITTEN);
      expect(exchange.onUpstreamData(part('b', true))).to.equal(WRITTEN);
      expect(tap.heard).to.deep.equal(['head', 'data a', 'data b', 'end']);
      expect(client.heard).to.deep.equal([]);
    });

    it('is a refusal when it breaks', () => {
      const tap = new Tap();
      tap.verdict = SWALLOW;
      const { client, ended, exchange } = setUp({ tap });
      exchange.onUpstreamHead(answer(200), part('a'));
      exchange.onUpstreamFailure(failure('truncated'));
      expect(tap.heard.at(-1)).to.equal('abort');
      expect(client.heard).to.include('head 502');
      expect(ended).to.deep.equal(['gateway 502']);
    });
  });

  describe('a tunnel', () => {
    const opened = () => {
      const set = setUp({ upgrade: 'echo', last: false });
      set.exchange.onUpstreamHead(answer(101), part('hi'));
      return set;
    };

    it('ends when both sides have ended', () => {
      const { attempts, client, ended, exchange } = opened();
      expect(client.heard).to.deep.equal(['head 101', 'data hi', 'resume body']);
      const [attempt] = attempts;
      if (attempt) attempt.outcome = PENDING;
      expect(exchange.onRequestData(part('a', true))).to.equal(PENDING);
      exchange.onUpstreamDrain();
      expect(client.heard.at(-1)).to.equal('resume body');
      exchange.onUpstreamData(part('b', true));
      expect(attempt?.heard).to.deep.equal(['data a.']);
      expect(ended).to.deep.equal(['complete 101']);
    });

    it('ends with the client', () => {
      const { attempts, ended, exchange } = opened();
      exchange.onRequestAbort('gone');
      expect(attempts[0]?.heard).to.deep.equal(['abort']);
      expect(ended).to.deep.equal(['client 101']);
    });
  });

  it('fetches for the store without a client', () => {
    const { attempts, client, ended, exchange, services } = setUp();
    const tap = new Tap();
    const runner = new HttpExchangeRunner(services);
    runner.fetch(exchange, PlainRequestHead.of(exchange.request), tap);
    expect(attempts).to.have.length(2);
    const handler = attempts[1]?.handler;
    handler?.onUpstreamInformational(answer(103));
    handler?.onUpstreamHead(answer(200), part('a'));
    handler?.onUpstreamData(part('b', true));
    expect(tap.heard).to.deep.equal(['head', 'data a', 'data b', 'end']);
    runner.fetch(exchange, PlainRequestHead.of(exchange.request), tap);
    const broken = attempts[2]?.handler;
    broken?.onUpstreamHead(answer(200), part('a'));
    broken?.onUpstreamFailure(failure('truncated'));
    expect(tap.heard.slice(4)).to.deep.equal(['head', 'data a', 'abort']);
    expect(client.heard).to.deep.equal([]);
    expect(ended).to.deep.equal([]);
  });
});
