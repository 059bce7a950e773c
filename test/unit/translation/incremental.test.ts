import { expect } from 'chai';
import fc from 'fast-check';

import { EMPTY_CLUSTER } from '../../../src/apis/cluster-snapshot.js';
import { KINDS, type Kind } from '../../../src/apis/kinds.js';
import { isOfKind, type AnyObject } from '../../../src/apis/objects.js';
import type { StatusAddress } from '../../../src/graph/status-plan.js';
import { createTranslator, translate } from '../../../src/translation/translate.js';
import type { Translation } from '../../../src/translation/translation.js';
import { clusterFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { arbitraryChange, healthyCluster, type Change } from '../../support/translation/random-cluster.js';
import { testInput, testSettings } from '../../support/translation/settings.js';

const settings = testSettings({ capabilities: { stream: true } });
const libraries = fakeLibraries();
const changes = fc.array(arbitraryChange(), { minLength: 10, maxLength: 30 });

/** One object for all passes, so that only the cluster differs. */
const input = testInput(EMPTY_CLUSTER);

describe('incremental translation', () => {
  it('equals a cold rebuild after every change', () => {
    fc.assert(
      fc.property(changes, (sequence) => {
        const translator = createTranslator(settings, libraries);
        const objects = new Map(healthyCluster());
        let held = new Map<string, readonly StatusAddress[]>();
        let cluster = clusterFrom([...objects.values()]);
        for (const change of sequence) {
          apply(change, objects);
          // As from the sources: the maps of the other kinds stay the same.
          const kind = kindOf(change);
          cluster = { ...cluster, [kind]: clusterFrom([...objects.values()])[kind] };
          const incremental = translator({ ...input, cluster });
          const cold = translate(settings, libraries, testInput(clusterFrom(withStatus(objects, held))));
          expect(incremental).to.deep.equal(cold);
          held = addressesOf(incremental);
        }
      }),
      { numRuns: 8 },
    );
  });

  it('gives the same for any order of objects (invariant 4, S-12)', () => {
    fc.assert(
      fc.property(changes, fc.infiniteStream(fc.nat()), (sequence, random) => {
        const objects = new Map(healthyCluster());
        for (const change of sequence) apply(change, objects);
        const list = [...objects.values()];
        const shuffled = list
          .map((object) => ({ object, rank: Number(random.next().value) }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ object }) => object);
        const expected = translate(settings, libraries, testInput(clusterFrom(list)));
        expect(translate(settings, libraries, testInput(clusterFrom(shuffled)))).to.deep.equal(expected);
      }),
      { numRuns: 8 },
    );
  });

  it('gives the very same objects when nothing changed', () => {
    fc.assert(
      fc.property(changes, (sequence) => {
        const translator = createTranslator(settings, libraries);
        const objects = new Map(healthyCluster());
        for (const change of sequence) apply(change, objects);
        const first = translator(testInput(clusterFrom([...objects.values()])));
        const second = translator(testInput(clusterFrom([...objects.values()].reverse())));
        expectSameObjects(first, second);
      }),
      { numRuns: 8 },
    );
  });
});

function kindOf({ key }: Change): Kind {
  const kind = KINDS.find((one) => key.startsWith(`${one.kind}/`))?.kind;
  if (!kind) throw new Error(key);
  return kind;
}

function apply({ key, object }: Change, objects: Map<string, AnyObject>): void {
  if (object) objects.set(key, object);
  else objects.delete(key);
}

function addressesOf({ statuses }: Translation): Map<string, readonly StatusAddress[]> {
  return new Map(
    statuses.flatMap(({ object, status }) =>
      status.shape === 'gateway' ? [[`${object.namespace}/${object.name}`, status.addresses] as const] : [],
    ),
  );
}

/** A translator without a memory reads what was assigned from the statuses. */
function withStatus(
  objects: ReadonlyMap<string, AnyObject>,
  held: ReadonlyMap<string, readonly StatusAddress[]>,
): readonly AnyObject[] {
  return [...objects.values()].map((object) => {
    if (!isOfKind('Gateway', object)) return object;
    const addresses = held.get(`${object.metadata.namespace}/${object.metadata.name}`) ?? [];
    return { ...object, status: { addresses } };
  });
}

function expectSameObjects(first: Translation, second: Translation): void {
  const sections = Object.keys(first.configuration) as (keyof Translation['configuration'])[];
  for (const section of sections) {
    const before: readonly unknown[] = first.configuration[section];
    const after: readonly unknown[] = second.configuration[section];
    expect(after.length, section).to.equal(before.length);
    after.forEach((element, index) => {
      expect(element === before[index], `${section}[${index}]`).to.equal(true);
    });
  }
  second.statuses.forEach((status, index) => {
    expect(status === first.statuses[index], `statuses[${index}]`).to.equal(true);
  });
}
