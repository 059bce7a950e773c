import { expect } from 'chai';
import fc from 'fast-check';

import type { AnyObject } from '../../../src/apis/objects.js';
import { translate } from '../../../src/translation/translate.js';
import { clusterFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { arbitraryChange, healthyCluster } from '../../support/translation/random-cluster.js';
import { testInput, testSettings } from '../../support/translation/settings.js';

const settings = testSettings({ capabilities: { stream: true } });
const libraries = fakeLibraries();

describe('ownership of hosts', () => {
  it('never lets routes of two namespaces answer for one host of the shared address', () => {
    fc.assert(
      fc.property(fc.array(arbitraryChange(), { minLength: 10, maxLength: 40 }), (changes) => {
        const objects = new Map(healthyCluster());
        for (const { key, object } of changes) {
          if (object) objects.set(key, withoutParameters(object));
          else objects.delete(key);
        }
        const { configuration } = translate(
          settings,
          libraries,
          testInput(clusterFrom([...objects.values()])),
        );
        const shared = configuration.virtualHosts.filter(({ key }) => key.startsWith('tcp/[::]'));
        const namespaceOf = new Map(configuration.routes.map(({ key, namespace }) => [key, namespace]));
        for (const { key, routes } of shared) {
          const namespaces = new Set(routes.map((route) => namespaceOf.get(route)));
          expect([...namespaces].length, key).to.be.at.most(1);
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** No class lifts the rule. */
function withoutParameters(object: AnyObject): AnyObject {
  return object.kind === 'ConfigMap' ? { ...object, data: { addressing: 'pool' } } : object;
}
