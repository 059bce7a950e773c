import { expect } from 'chai';
import type { SessionPersistence } from '../../../../src/ir/http.js';
import { PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import { SessionAffinity } from '../../../../src/engine/filters/session-affinity.js';
import { type Session, SessionTokens } from '../../../../src/engine/filters/session-token.js';
import { backendOf } from '../../../support/engine/cache-harness.js';
import { FakeExchange } from '../../../support/engine/fake-exchange.js';

const tokens = new SessionTokens(Buffer.alloc(32, 1));

describe('SessionTokens', () => {
  const session: Session = {
    rule: 'r/0',
    upstream: 'Service/ns/a/80',
    endpoint: '10.0.0.1:80',
    createdAtMs: 5_000,
    usedAtMs: 6_000,
  };

  it('opens what it sealed, for the same rule and key only', () => {
    const token = tokens.seal(session);
    expect(tokens.open(token, 'r/0')).to.deep.equal(session);
    expect(tokens.open(token, 'r/1')).to.equal(undefined);
    expect(new SessionTokens(Buffer.alloc(32, 2)).open(token, 'r/0')).to.equal(undefined);
  });

  it('refuses everything else', () => {
    const [content = '', signature = ''] = tokens.seal(session).split('.');
    const other = Buffer.from(JSON.stringify(['x', 'y', 1, 1])).toString('base64url');
    for (const token of ['', '.', 'a.b', content, `${other}.${signature}`, `${content}.${signature}.x`]) {
      expect(tokens.open(token, 'r/0'), token).to.equal(undefined);
    }
  });
});

describe('SessionAffinity', () => {
  const entries = [backendOf({}, 'Service/ns/a/80'), backendOf({}, 'Service/ns/b/80')];
  let nowMs = 1_000_000;

  function affinityOf(persistence: Partial<SessionPersistence> = {}): SessionAffinity {
    const base: SessionPersistence = { type: 'cookie', name: 'sid', lifetime: 'session' };
    return new SessionAffinity({
      persistence: { ...base, ...persistence },
      rule: 'r/0',
      entries,
      tokens,
      now: () => nowMs,
    });
  }

  /** The field that the answer of an endpoint of the second backend carries. */
  function remembered(affinity: SessionAffinity, headers = {}, secure = false): Record<string, string> {
    const exchange = new FakeExchange({ headers }, { context: { secure }, matchedPrefix: '/shop' });
    exchange.backend = entries[1];
    exchange.endpoint = { address: '10.0.0.2', port: 8080 };
    const head = new PlainResponseHead(200);
    affinity.remember(exchange, head);
    const cookie = head.fields.get('set-cookie');
    const header = head.fields.get('x-session');
    return { ...(cookie !== undefined && { cookie }), ...(header !== undefined && { header }) };
  }

  const pairOf = (cookie = ''): string => cookie.split(';')[0] ?? '';

  beforeEach(() => {
    nowMs = 1_000_000;
  });

  it('gives a cookie, and finds the endpoint by it', () => {
    const affinity = affinityOf();
    const { cookie } = remembered(affinity);
    expect(cookie).to.match(/^sid=[\w.-]+; Path=\/shop; HttpOnly; SameSite=Strict$/);
    const next = { cookie: `other=1; ${pairOf(cookie)}` };
    const found = affinity.find(new FakeExchange({ headers: next }));
    expect(found).to.deep.equal({ backend: entries[1], endpoint: '10.0.0.2:8080' });
    expect(remembered(affinity, next), 'a session that lasts is not given again').to.deep.equal({});
    expect(affinity.find(new FakeExchange())).to.equal(undefined);
    expect(affinity.find(new FakeExchange({ headers: { cookie: 'sid=forged.x' } }))).to.equal(undefined);
  });

  it('marks the cookie of HTTPS as secure', () => {
    expect(remembered(affinityOf(), {}, true)['cookie']).to.match(/; Secure$/);
  });

  it('uses a header when asked to', () => {
    const affinity = affinityOf({ type: 'header', name: 'X-Session' });
    const { header = '', cookie } = remembered(affinity);
    expect(cookie).to.equal(undefined);
    expect(affinity.find(new FakeExchange({ headers: { 'x-session': header } }))?.endpoint).to.equal(
      '10.0.0.2:8080',
    );
  });

  it('gives permanent cookies what is left of the absolute timeout', () => {
    const affinity = affinityOf({ lifetime: 'permanent', absoluteTimeoutMs: 60_000, idleTimeoutMs: 20_000 });
    const { cookie } = remembered(affinity);
    expect(cookie).to.match(/; Max-Age=60;/);
    nowMs += 10_000;
    const renewed = remembered(affinity, { cookie: pairOf(cookie) });
    expect(renewed['cookie'], 'renewed, since it was used').to.match(/; Max-Age=50;/);
    nowMs += 15_000;
    const headers = { cookie: pairOf(renewed['cookie']) };
    expect(affinity.find(new FakeExchange({ headers }))).to.not.equal(undefined);
    nowMs += 6_000;
    expect(affinity.find(new FakeExchange({ headers })), 'idle').to.equal(undefined);
  });

  it('ends with the absolute timeout', () => {
    const affinity = affinityOf({ absoluteTimeoutMs: 60_000 });
    const headers = { cookie: pairOf(remembered(affinity)['cookie']) };
    nowMs += 60_000;
    expect(affinity.find(new FakeExchange({ headers }))).to.not.equal(undefined);
    nowMs += 1_000;
    expect(affinity.find(new FakeExchange({ headers }))).to.equal(undefined);
    expect(remembered(affinity, headers)['cookie'], 'a new session begins').to.match(/^sid=/);
  });

  it('does nothing for answers without an endpoint', () => {
    const head = new PlainResponseHead(200);
    affinityOf().remember(new FakeExchange(), head);
    expect(head.fields.has('set-cookie')).to.equal(false);
  });

  it('does not keep a session with a backend that is gone', () => {
    const token = tokens.seal({
      rule: 'r/0',
      upstream: 'gone',
      endpoint: 'x',
      createdAtMs: nowMs,
      usedAtMs: nowMs,
    });
    expect(affinityOf().find(new FakeExchange({ headers: { cookie: `sid=${token}` } }))).to.equal(undefined);
  });
});
