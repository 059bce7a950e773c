import { expect } from 'chai';

import { EMPTY_CLUSTER } from '../../../src/apis/cluster-snapshot.js';
import type { AnyObject } from '../../../src/apis/objects.js';
import { createTranslator } from '../../../src/translation/translate.js';
import type { Translation } from '../../../src/translation/translation.js';
import { clusterFrom, objectFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { healthyCluster } from '../../support/translation/random-cluster.js';
import { testInput, testSettings } from '../../support/translation/settings.js';

/** One object for all passes, so that only the cluster differs. */
const input = testInput(EMPTY_CLUSTER);

describe('the size of a change', () => {
  let translated: (objects: Iterable<AnyObject>) => Translation;

  beforeEach(() => {
    const translator = createTranslator(testSettings(), fakeLibraries());
    translated = (objects) => translator({ ...input, cluster: clusterFrom([...objects]) });
  });

  it('Z-02 a Secret and an EndpointSlice that nobody names change nothing', () => {
    const objects = healthyCluster();
    const before = translated(objects.values());
    const strangers = Array.from({ length: 100 }, (_, index) => [
      objectFrom({
        kind: 'Secret',
        metadata: { name: `s${String(index)}`, namespace: 'x' },
        type: 'kubernetes.io/tls',
        stringData: { 'tls.crt': 'CERT names=*.a.test pair=1', 'tls.key': 'KEY pair=1' },
      }),
      slice(`e${String(index)}`, '10.9.9.9'),
    ]).flat();
    const after = translated([...objects.values(), ...strangers]);
    expect(replaced(before, after)).to.deep.equal([]);
  });

  it('Z-02 new endpoints change their upstream and nothing else', () => {
    const objects = new Map(healthyCluster());
    const before = translated(objects.values());
    const key = [...objects.keys()].find((one) => one.startsWith('EndpointSlice/x/n0'));
    if (key === undefined) throw new Error([...objects.keys()].join(' '));
    objects.set(key, slice('n0', '10.0.0.2'));
    expect(replaced(before, translated(objects.values()))).to.deep.equal(['upstreams Service/x/n0/80']);
  });

  it('Z-01 one route more changes what it is part of, however many there are', () => {
    const objects = [...healthyCluster().values()];
    const changes = Array.from({ length: 30 }, (_, index) => {
      const before = translated(objects);
      objects.push(
        objectFrom({
          kind: 'HTTPRoute',
          metadata: { name: `r${String(index)}`, namespace: 'x' },
          spec: {
            parentRefs: [{ name: 'n0' }],
            hostnames: [`r${String(index)}.x.test`],
            rules: [{ backendRefs: [{ name: 'n0', port: 80 }] }],
          },
        }),
      );
      return replaced(before, translated(objects));
    });
    const [first, ...later] = changes.map((change) => change.length);
    expect(new Set(later)).to.deep.equal(new Set([first]));
  });
});

function slice(name: string, address: string): AnyObject {
  return objectFrom({
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'x', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'web', port: 8080 }],
    endpoints: [{ addresses: [address] }],
  });
}

/** What of the second configuration is not the very object that the first one held, and which statuses. */
function replaced(first: Translation, second: Translation): readonly string[] {
  const sections = Object.keys(second.configuration) as (keyof Translation['configuration'])[];
  const parts = sections.flatMap((section) => {
    const held = new Set<unknown>(first.configuration[section]);
    return second.configuration[section]
      .filter((part) => !held.has(part))
      .map((part) => `${section} ${'key' in part ? part.key : ''}`);
  });
  const held = new Set(first.statuses);
  const statuses = second.statuses.filter((status) => !held.has(status));
  return [
    ...parts,
    ...statuses.map(({ object }) => `status ${object.kind}/${object.namespace}/${object.name}`),
  ];
}
