import { expect } from 'chai';

import { configurationDelta, isEmptyDelta } from '../../../../src/engine/workers/configuration-delta.js';
import { ConfigurationTables } from '../../../../src/engine/data-plane/configuration-tables.js';
import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../../../../src/ir/proxy-configuration.js';
import { SecretBytes } from '../../../../src/util/secret-bytes.js';

const host = (key: string, routes: readonly string[] = []) => ({ key, hostname: key, routes });
const withHosts = (...virtualHosts: ProxyConfiguration['virtualHosts']): ProxyConfiguration => ({
  ...EMPTY_CONFIGURATION,
  virtualHosts,
});

describe('configurationDelta', () => {
  it('is empty for the same elements in a new list', () => {
    const a = host('a');
    expect(isEmptyDelta(configurationDelta(withHosts(a), withHosts(a)))).to.equal(true);
  });

  it('holds what is new, what is another object, and the keys of what is gone', () => {
    const [a, b, c] = [host('a'), host('b'), host('c')];
    const b2 = host('b', ['r']);
    expect(configurationDelta(withHosts(a, b), withHosts(b2, c))).to.deep.equal({
      virtualHosts: { upserts: [b2, c], removals: ['a'] },
    });
  });

  it('reveals private keys only here, as plain text that can be cloned', () => {
    const certificates = [{ key: 'Secret/a/b', chain: 'PEM', privateKey: new SecretBytes('KEY') }];
    const delta = configurationDelta(EMPTY_CONFIGURATION, { ...EMPTY_CONFIGURATION, certificates });
    expect(structuredClone(delta).certificates?.upserts).to.deep.equal([
      { key: 'Secret/a/b', chain: 'PEM', privateKey: 'KEY' },
    ]);
  });

  it('leads tables from one configuration to the next', () => {
    const first = withHosts(host('a'), host('b'));
    const second = withHosts(host('b', ['r']), host('c'));
    const before = new ConfigurationTables(undefined, configurationDelta(EMPTY_CONFIGURATION, first));
    const after = new ConfigurationTables(before, configurationDelta(first, second));
    expect([...after.virtualHosts.values()]).to.have.deep.members(second.virtualHosts);
    expect([...before.virtualHosts.values()]).to.have.deep.members(first.virtualHosts);
    expect(after.routes).to.equal(before.routes);
  });
});
