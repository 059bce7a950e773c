import { expect } from 'chai';

import { translate } from '../../../src/translation/translate.js';
import { clusterFrom, objectFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { CONTROLLER_NAME, testInput, testSettings } from '../../support/translation/settings.js';

describe('messages', () => {
  it('S-08 are cut to what the API takes', () => {
    const backendRefs = Array.from({ length: 16 }, (_, index) => ({
      name: `${'n'.repeat(200)}${index}`,
      port: 80,
    }));
    const objects = [
      objectFrom({
        kind: 'GatewayClass',
        metadata: { name: 'lab' },
        spec: { controllerName: CONTROLLER_NAME },
      }),
      objectFrom({
        kind: 'Gateway',
        metadata: { name: 'edge', namespace: 'infra' },
        spec: { gatewayClassName: 'lab', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
      }),
      objectFrom({
        kind: 'HTTPRoute',
        metadata: { name: 'shop', namespace: 'infra' },
        spec: {
          parentRefs: [{ name: 'edge' }],
          rules: Array.from({ length: 16 }, (_, index) => ({
            matches: [{ path: { value: `/${index}` } }],
            backendRefs,
          })),
        },
      }),
    ];
    const { statuses } = translate(testSettings(), fakeLibraries(), testInput(clusterFrom(objects)));
    const route = statuses.find(({ object }) => object.kind === 'HTTPRoute');
    const messages =
      route?.status.shape === 'route'
        ? route.status.parents.flatMap(({ conditions }) => conditions.map(({ message }) => message))
        : [];
    expect(Math.max(...messages.map(({ length }) => length))).to.equal(32_768);
  });
});
