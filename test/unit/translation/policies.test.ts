import { expect } from 'chai';
import fc from 'fast-check';

import type { AnyObject } from '../../../src/apis/objects.js';
import { createTranslator, translate } from '../../../src/translation/translate.js';
import { clusterFrom, objectFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { CONTROLLER_NAME, testInput, testSettings } from '../../support/translation/settings.js';

const base: readonly AnyObject[] = [
  objectFrom({ kind: 'GatewayClass', metadata: { name: 'lab' }, spec: { controllerName: CONTROLLER_NAME } }),
  ...['one', 'two'].map((name, index) =>
    objectFrom({
      kind: 'Gateway',
      metadata: { name, namespace: 'ns' },
      spec: { gatewayClassName: 'lab', listeners: [{ name: 'http', port: 80 + index, protocol: 'HTTP' }] },
    }),
  ),
  ...['a', 'b'].map((name) =>
    objectFrom({
      kind: 'Service',
      metadata: { name, namespace: 'ns' },
      spec: { ports: [{ name: 'web', port: 80 }] },
    }),
  ),
  ...['a', 'b'].map((name) =>
    objectFrom({
      kind: 'HTTPRoute',
      metadata: { name, namespace: 'ns' },
      spec: {
        parentRefs: [{ name: 'one' }, ...(name === 'a' ? [{ name: 'two' }] : [])],
        hostnames: [`${name}.test`],
        rules: [{ name: 'rule', backendRefs: [{ name, port: 80 }] }],
      },
    }),
  ),
];

const target = fc.constantFrom(
  { kind: 'Gateway', name: 'one' },
  { kind: 'Gateway', name: 'two' },
  { kind: 'HTTPRoute', name: 'a' },
  { kind: 'HTTPRoute', name: 'a', sectionName: 'rule' },
  { kind: 'HTTPRoute', name: 'ghost' },
  { kind: 'Service', name: 'a' },
  { kind: 'Service', name: 'b', sectionName: 'web' },
);

const cachePolicy = fc
  .record({
    name: fc.constantFrom('p', 'q', 'r'),
    day: fc.integer({ min: 1, max: 3 }),
    targetRefs: fc.uniqueArray(target, {
      minLength: 1,
      maxLength: 3,
      selector: (one) => JSON.stringify(one),
    }),
    settings: fc.constantFrom(
      { cacheName: 'default' },
      { maxTTL: '1m' },
      { cacheName: 'ghost' },
      { requestHeaders: { A: 'b' } },
    ),
  })
  .map(({ name, day, targetRefs, settings }) =>
    objectFrom({
      kind: 'TricksterCachePolicy',
      metadata: { name, namespace: 'ns', creationTimestamp: `2026-01-0${String(day)}T00:00:00Z` },
      spec: { targetRefs, ...settings },
    }),
  );

const tlsPolicy = fc
  .record({
    name: fc.constantFrom('s', 't'),
    service: fc.constantFrom('a', 'b'),
    section: fc.boolean(),
    ca: fc.boolean(),
  })
  .map(({ name, service, section, ca }) =>
    objectFrom({
      kind: 'BackendTLSPolicy',
      metadata: { name, namespace: 'ns' },
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: service, ...(section && { sectionName: 'web' }) }],
        validation: {
          hostname: `${name}.test`,
          ...(ca
            ? { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'ca' }] }
            : { wellKnownCACertificates: 'System' }),
        },
      },
    }),
  );

const ca = fc
  .constantFrom('CA one', 'nothing')
  .map((text) =>
    objectFrom({ kind: 'ConfigMap', metadata: { name: 'ca', namespace: 'ns' }, data: { 'ca.crt': text } }),
  );

const byName = (object: AnyObject): string => `${object.kind}/${object.metadata.name}`;
const cluster = fc
  .uniqueArray(fc.oneof(cachePolicy, tlsPolicy, ca), { maxLength: 6, selector: byName })
  .map((policies) => [...base, ...policies]);

describe('policies', () => {
  it('come to the same incrementally, from the start, and in any order', () => {
    const libraries = fakeLibraries();
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 1, maxLength: 4 }), (states) => {
        const settings = testSettings();
        const translator = createTranslator(settings, libraries);
        for (const objects of states) {
          const incremental = translator(testInput(clusterFrom(objects)));
          expect(incremental).to.deep.equal(translate(settings, libraries, testInput(clusterFrom(objects))));
          const reversed = clusterFrom([...objects].reverse());
          expect(translate(settings, libraries, testInput(reversed))).to.deep.equal(incremental);
          const again = translator(testInput(clusterFrom(objects)));
          for (const section of ['routes', 'upstreams', 'policies'] as const)
            for (const [index, element] of again.configuration[section].entries())
              expect(element).to.equal(incremental.configuration[section][index]);
          for (const [index, status] of again.statuses.entries())
            expect(status).to.equal(incremental.statuses[index]);
        }
      }),
      { numRuns: 60 },
    );
  });
});
