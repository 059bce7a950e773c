import { expect } from 'chai';

import type { HttpRoute } from '../../../src/ir/http.js';
import { translate } from '../../../src/translation/translate.js';
import { clusterFrom, objectFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { healthyCluster } from '../../support/translation/random-cluster.js';
import { testInput, testSettings } from '../../support/translation/settings.js';

describe('equal rules of several routes', () => {
  /** What the rules of two routes become that differ in nothing but their names. */
  function rulesOfTwins(rule: object): readonly HttpRoute['rules'][] {
    const routes = ['twin-a', 'twin-b'].map((name) =>
      objectFrom({
        kind: 'HTTPRoute',
        metadata: { name, namespace: 'x' },
        spec: { parentRefs: [{ name: 'n0' }], rules: [{ ...rule, backendRefs: [{ name: 'n0', port: 80 }] }] },
      }),
    );
    const cluster = clusterFrom([...healthyCluster().values(), ...routes]);
    const { configuration } = translate(testSettings(), fakeLibraries(), testInput(cluster));
    return configuration.routes.filter(({ name }) => name.startsWith('twin-')).map(({ rules }) => rules);
  }

  it('are one object', () => {
    const [a, b] = rulesOfTwins({});
    expect(a).to.have.length(1);
    expect(b).to.equal(a);
  });

  it('have retry policies of their own, which retry budgets belong to', () => {
    const [a, b] = rulesOfTwins({ retry: { attempts: 2 } }).flat();
    expect(a?.retry).to.deep.equal({ attempts: 2, codes: [] });
    expect(b).to.deep.equal(a);
    expect(b?.retry === a?.retry).to.equal(false);
    expect(b?.matches).to.equal(a?.matches);
  });
});
