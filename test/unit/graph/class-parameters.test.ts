import { expect } from 'chai';

import { DEFAULT_CLASS_PARAMETERS, parseClassParameters } from '../../../src/graph/class-parameters.js';

const names = { caches: new Set(['default']), negativeCaches: new Set(['default']) };

describe('class parameters', () => {
  it('are read over a base', () => {
    const base = { ...DEFAULT_CLASS_PARAMETERS, cacheName: 'default', timeoutMs: 1 };
    const parsed = parseClassParameters({ timeout: '1m30s', addressing: 'pool' }, base, names);
    expect(parsed).to.deep.equal({
      ok: true,
      parameters: { ...base, timeoutMs: 90_000, addressing: 'pool' },
    });
  });

  it('default to endpoint routing', () => {
    const parsed = parseClassParameters({}, DEFAULT_CLASS_PARAMETERS, names);
    expect(parsed.ok && parsed.parameters.routingMode).to.equal('endpoint');
  });

  it('are all reported when they are bad', () => {
    const parsed = parseClassParameters(
      { timeout: '5', adressing: 'pool', ip_acl_name: 'office' },
      DEFAULT_CLASS_PARAMETERS,
      names,
    );
    expect(parsed).to.deep.equal({
      ok: false,
      problems: [
        'adressing: unknown key, did you mean addressing?',
        'ip_acl_name: is not supported',
        'timeout: "5" is not a duration with a unit',
      ],
    });
  });

  for (const key of ['authenticator_name', 'rate_limiter_name', 'req_rewriter_name', 'sticky_secret']) {
    it(`refuse ${key}: a class that asks for a control is not served without it`, () => {
      expect(parseClassParameters({ [key]: 'x' }, DEFAULT_CLASS_PARAMETERS, names).ok).to.equal(false);
    });
  }
});
