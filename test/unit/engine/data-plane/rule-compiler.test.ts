import { expect } from 'chai';
import { type RuleServices, RuleCompiler } from '../../../../src/engine/data-plane/rule-compiler.js';
import { CONTINUE } from '../../../../src/engine/exchange/route-entry.js';
import { SessionTokens } from '../../../../src/engine/filters/session-token.js';
import { toCachePolicy } from '../../../../src/translation/cache-policies.js';
import type { HttpRule, WeightedBackend } from '../../../../src/ir/http.js';
import { matchOf, routeOf, ruleOf } from '../../../support/engine/routing-fixture.js';

const upstreams = new Map(
  ['one', 'two'].map((key) => [key, { key, choose: () => ({ status: 503, reason: 'none' }) }]),
);
const caching = toCachePolicy({ cacheName: 'default' });
const services: RuleServices = {
  upstream: (key) => upstreams.get(key),
  policy: (key) => (key === caching.key ? caching : undefined),
  mirror: { send: () => undefined },
  authorize: () => ({ requestStep: { run: () => CONTINUE } }),
  sessions: new SessionTokens(Buffer.alloc(32)),
};

const backend = (rest: Partial<WeightedBackend> = {}): WeightedBackend => ({
  weight: 1,
  upstream: 'one',
  filters: [],
  ...rest,
});

function compileTwo(rest: Partial<HttpRule>) {
  const compiler = new RuleCompiler(services);
  const rule = ruleOf(0, [matchOf()], rest);
  const [first, second] = [routeOf('a', []), routeOf('b', [])].map((route) => compiler.compile(rule, route));
  return { first: first!, second: second! };
}

describe('RuleCompiler', () => {
  it('shares the choice of rules that send everything to one upstream', () => {
    const { first, second } = compileTwo({ backends: [backend()] });
    expect(first.backends).to.equal(second.backends);
    expect(first.backends.next()?.upstream?.key).to.equal('one');
    expect([first.route, second.route]).to.deep.equal([routeOf('a', []).key, routeOf('b', []).key]);
  });

  it('shares nothing that has a state or that a cache keeps responses by', () => {
    for (const rest of [
      { backends: [backend(), backend({ upstream: 'two' })] },
      { backends: [backend({ policy: caching.key })] },
      { backends: [backend()], policy: caching.key },
      {
        backends: [backend({ filters: [{ type: 'mirror', upstream: 'two', numerator: 1, denominator: 2 }] })],
      },
    ] satisfies Partial<HttpRule>[]) {
      const { first, second } = compileTwo(rest);
      expect(first.backends, JSON.stringify(rest)).to.not.equal(second.backends);
      for (const [index, entry] of first.backends.entries.entries())
        expect(entry).to.not.equal(second.backends.entries[index]);
    }
  });

  it('chooses nothing for a weight of zero and refuses for an upstream that is not there', () => {
    expect(compileTwo({ backends: [backend({ weight: 0 })] }).first.backends.next()).to.equal(undefined);
    const { first } = compileTwo({ backends: [backend({ upstream: 'gone' })] });
    expect(first.backends.next()?.refusal?.status).to.equal(500);
  });
});
