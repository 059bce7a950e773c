import { expect } from 'chai';
import fc from 'fast-check';

import type { Condition } from '../../../src/apis/meta.js';
import type { DesiredStatus } from '../../../src/graph/status-plan.js';
import { listAt, textAt, valueAt, type JsonObject } from '../../../src/kube/json.js';
import { mergeStatus } from '../../../src/status/merge-status.js';
import {
  condition,
  CONTROLLER,
  gatewayStatus,
  listener,
  OTHER,
  ref,
  routeStatus,
} from '../../support/status/plans.js';

const T1 = Date.UTC(2026, 0, 1);
const T2 = Date.UTC(2026, 0, 2);
const day1 = '2026-01-01T00:00:00Z';
const day2 = '2026-01-02T00:00:00Z';

function merge(current: unknown, status: DesiredStatus, generation = 1, now = T1): JsonObject | undefined {
  return mergeStatus(current, { generation, status }, { controllerName: CONTROLLER, now });
}

const foreignParent = {
  parentRef: { name: 'other-gw', weird: null },
  controllerName: OTHER,
  conditions: [{ type: 'Accepted', status: 'Maybe', extra: [1, 2] }],
};

describe('status/merge-status', () => {
  it('writes a status that was not there, with generation and time', () => {
    expect(merge(undefined, routeStatus(['edge', condition('Accepted')]), 7)).to.deep.equal({
      parents: [
        {
          parentRef: ref('edge'),
          controllerName: CONTROLLER,
          conditions: [
            {
              type: 'Accepted',
              status: 'True',
              observedGeneration: 7,
              lastTransitionTime: day1,
              reason: 'Accepted',
              message: 'Accepted it is',
            },
          ],
        },
      ],
    });
  });

  it('S-12 answers nothing when nothing differs, whatever the time', () => {
    const status = routeStatus(['edge', condition('Accepted'), condition('ResolvedRefs')]);
    const first = merge(undefined, status);
    expect(merge(first, status, 1, T2)).to.equal(undefined);
    expect(merge(JSON.parse(JSON.stringify(first)), status, 1, T2)).to.equal(undefined);
  });

  it('S-12 moves lastTransitionTime only when the status flips', () => {
    const first = merge(undefined, routeStatus(['edge', condition('Accepted')]));
    const reworded = merge(first, routeStatus(['edge', condition('Accepted', 'True', 'other words')]), 2, T2);
    const [entry] = listAt(reworded, 'parents');
    expect(listAt(entry, 'conditions')[0]).to.include({
      lastTransitionTime: day1,
      observedGeneration: 2,
      message: 'other words',
    });
    const flipped = merge(reworded, routeStatus(['edge', condition('Accepted', 'False')]), 2, T2);
    expect(listAt(listAt(flipped, 'parents')[0], 'conditions')[0]).to.include({ lastTransitionTime: day2 });
  });

  it('invariant 8: S-01 keeps entries of other controllers byte for byte, in their place', () => {
    const before = { parents: [foreignParent, { ...foreignParent, controllerName: '' }] };
    const text = JSON.stringify(before.parents);
    const first = merge(before, routeStatus(['edge', condition('Accepted')]));
    expect(JSON.stringify(listAt(first, 'parents').slice(0, 2))).to.equal(text);
    const second = merge(first, routeStatus(['edge', condition('Accepted', 'False')]), 2, T2);
    expect(JSON.stringify(listAt(second, 'parents').slice(0, 2))).to.equal(text);
    expect(listAt(second, 'parents')).to.have.length(3);
  });

  it('S-02 drops our entry when its parentRef is gone, and all of them with the last', () => {
    const before = merge({ parents: [foreignParent] }, routeStatus(['edge', condition('Accepted')]));
    const moved = merge(before, routeStatus(['edge2', condition('Accepted')]), 2);
    expect(listAt(moved, 'parents').map((entry) => textAt(entry, 'parentRef', 'name'))).to.deep.equal([
      'other-gw',
      'edge2',
    ]);
    expect(merge(moved, routeStatus(), 3)).to.deep.equal({ parents: [foreignParent] });
    expect(merge({ parents: [foreignParent] }, routeStatus(), 3)).to.equal(undefined);
    expect(merge(undefined, routeStatus(), 3)).to.equal(undefined);
    const ours = merge(undefined, routeStatus(['edge', condition('Accepted')]));
    expect(merge(ours, routeStatus(), 3)).to.deep.equal({ parents: [] });
  });

  it('S-18 replaces what no longer holds: one condition of a type, never two', () => {
    const stored = merge(
      undefined,
      routeStatus(['edge', condition('Accepted'), condition('PartiallyInvalid')]),
    );
    const [entry] = listAt(stored, 'parents');
    const doubled = {
      ...(entry as object),
      conditions: [...listAt(entry, 'conditions'), ...listAt(entry, 'conditions')],
    };
    const next = merge(
      { parents: [doubled, doubled] },
      routeStatus(['edge', condition('Accepted', 'False')]),
      2,
    );
    expect(listAt(next, 'parents')).to.have.length(1);
    expect(listAt(listAt(next, 'parents')[0], 'conditions').map((one) => textAt(one, 'type'))).to.deep.equal([
      'Accepted',
    ]);
  });

  it('takes the first of two planned conditions of one type', () => {
    const stored = merge(
      undefined,
      routeStatus(['edge', condition('Accepted', 'False'), condition('Accepted')]),
    );
    expect(listAt(listAt(stored, 'parents')[0], 'conditions')).to.have.length(1);
  });

  it('S-08 cuts a message that the API would refuse, without splitting a character', () => {
    const long = condition('Accepted', 'False', 'ä'.repeat(40_000));
    const stored = merge(undefined, routeStatus(['edge', long]));
    const message = textAt(listAt(listAt(stored, 'parents')[0], 'conditions')[0], 'message') ?? '';
    expect(Buffer.byteLength(message)).to.be.within(32_764, 32_768);
    expect(message).to.match(/^ä+…$/);
    expect(merge(stored, routeStatus(['edge', long]), 1, T2)).to.equal(undefined);
  });

  it('writes at most 32 parents and 16 ancestors, and ours give way', () => {
    const foreign = Array.from({ length: 30 }, () => foreignParent);
    const names = ['a', 'b', 'c', 'd'].map((name) => [name, condition('Accepted')] as const);
    const parents = listAt(merge({ parents: foreign }, routeStatus(...names)), 'parents');
    expect(parents).to.have.length(32);
    expect(parents.slice(30).map((entry) => textAt(entry, 'parentRef', 'name'))).to.deep.equal(['a', 'b']);
    const ancestors = Array.from({ length: 20 }, (_, index) => ({
      ancestorRef: ref(`gw${index}`),
      controllerName: CONTROLLER,
      conditions: [condition('Accepted')],
    }));
    expect(listAt(merge(undefined, { shape: 'policy', ancestors }), 'ancestors')).to.have.length(16);
  });

  it('tells parents apart by section and port', () => {
    const entry = { controllerName: CONTROLLER, conditions: [condition('Accepted')] };
    const status: DesiredStatus = {
      shape: 'route',
      parents: [
        { ...entry, parentRef: { ...ref('edge'), sectionName: 'http' } },
        { ...entry, parentRef: { ...ref('edge'), port: 80 } },
        { ...entry, parentRef: ref('edge') },
      ],
    };
    const stored = merge(undefined, status);
    expect(listAt(stored, 'parents')).to.have.length(3);
    expect(merge(stored, status, 1, T2)).to.equal(undefined);
  });

  it('replaces the defaults that the CRD puts into a new Gateway, and keeps conditions of others', () => {
    const pending = {
      status: 'Unknown',
      reason: 'Pending',
      message: 'Waiting',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    };
    const foreign = {
      type: 'example.net/Audited',
      status: 'True',
      lastTransitionTime: day1,
      reason: 'X',
      message: '',
    };
    const before = {
      conditions: [
        { type: 'Accepted', ...pending },
        foreign,
        { type: 'Programmed', ...pending },
        { type: 'Scheduled', ...pending },
      ],
    };
    const after = merge(before, gatewayStatus(listener('http', 's')), 3);
    expect(
      listAt(after, 'conditions').map((one) => [textAt(one, 'type'), textAt(one, 'status')]),
    ).to.deep.equal([
      ['Accepted', 'True'],
      ['example.net/Audited', 'True'],
      ['Programmed', 'True'],
    ]);
    expect(listAt(after, 'conditions')[1]).to.equal(foreign);
  });

  it('keeps within the eight conditions that the API allows', () => {
    const conditions = Array.from({ length: 8 }, (_, index) => ({
      type: `example.net/${index}`,
      status: 'True',
    }));
    const after = merge({ conditions }, gatewayStatus(), 1);
    expect(listAt(after, 'conditions')).to.have.length(8);
    expect(
      listAt(after, 'conditions')
        .slice(6)
        .map((one) => textAt(one, 'type')),
    ).to.deep.equal(['Accepted', 'Programmed']);
  });

  it('lists exactly the listeners of the spec, without what only this process needs', () => {
    const before = merge(undefined, gatewayStatus(listener('http', 's1'), listener('gone', 's2')));
    const after = merge(
      before,
      { ...gatewayStatus(listener('new'), listener('http', 's1')), attachedListenerSets: 2 },
      1,
      T2,
    );
    expect(listAt(after, 'listeners').map((one) => textAt(one, 'name'))).to.deep.equal(['new', 'http']);
    expect(listAt(after, 'listeners')[1]).to.equal(listAt(before, 'listeners')[0]);
    expect(JSON.stringify(after)).to.not.include('sockets');
    expect(valueAt(after, 'attachedListenerSets')).to.equal(2);
  });

  it('takes an absent list and an empty one for the same', () => {
    const empty = { ...gatewayStatus(), addresses: [] };
    const stored = merge(undefined, empty);
    expect(stored).to.have.keys('conditions');
    expect(merge({ ...stored, addresses: [], listeners: [] }, empty)).to.equal(undefined);
    expect(
      valueAt(merge({ ...stored, addresses: [{ type: 'IPAddress', value: '1.2.3.4' }] }, empty), 'addresses'),
    ).to.deep.equal([]);
  });

  it('publishes features as objects, and keeps fields of a status that it does not know', () => {
    const status: DesiredStatus = {
      shape: 'gatewayclass',
      conditions: [condition('Accepted')],
      supportedFeatures: ['A', 'B'],
    };
    expect(merge({ future: 1 }, status)).to.deep.include({
      future: 1,
      supportedFeatures: [{ name: 'A' }, { name: 'B' }],
    });
    const sets: DesiredStatus = {
      shape: 'listenerset',
      conditions: [condition('Accepted')],
      listeners: [listener('l')],
    };
    const stored = merge(undefined, sets);
    expect(listAt(stored, 'listeners')).to.have.length(1);
    expect(merge(stored, sets, 1, T2)).to.equal(undefined);
  });

  it('starts anew when the status is no object', () => {
    for (const current of [null, 'text', [1]])
      expect(merge(current, routeStatus(['edge', condition('Accepted')]))).to.have.keys('parents');
  });

  it('is idempotent, keeps foreign entries and carries one generation, for any status before', () => {
    const conditions = fc.uniqueArray(
      fc.record({
        type: fc.constantFrom('Accepted', 'ResolvedRefs', 'Programmed'),
        status: fc.constantFrom<Condition['status'][]>('True', 'False', 'Unknown'),
        reason: fc.constantFrom('A', 'B'),
        message: fc.string(),
      }),
      { selector: ({ type }) => type },
    );
    const stored = fc.record({
      controllerName: fc.constantFrom(CONTROLLER, OTHER),
      parentRef: fc.constantFrom('edge', 'edge2', 'x').map((name) => ref(name)),
      conditions: fc.array(
        fc.record({ type: fc.constantFrom('Accepted', 'Y'), status: fc.constantFrom('True', 'False') }),
      ),
    });
    const parents = fc.uniqueArray(fc.tuple(fc.constantFrom('edge', 'edge2', 'edge3'), conditions), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(fc.array(stored, { maxLength: 8 }), parents, fc.nat(9), (current, wanted, generation) => {
        const status = routeStatus(...wanted.map(([name, all]) => [name, ...all] as const));
        const before = { parents: current };
        const after = merge(before, status, generation) ?? before;
        expect(merge(after, status, generation, T2)).to.equal(undefined);
        const foreign = (list: readonly unknown[]): readonly unknown[] =>
          list.filter((entry) => textAt(entry, 'controllerName') === OTHER);
        expect(foreign(listAt(after, 'parents'))).to.deep.equal(foreign(current));
        const ours = listAt(after, 'parents').filter(
          (entry) => textAt(entry, 'controllerName') === CONTROLLER,
        );
        expect(ours.map((entry) => textAt(entry, 'parentRef', 'name')).sort()).to.deep.equal(
          wanted.map(([name]) => name).sort(),
        );
        for (const one of ours.flatMap((entry) => [...listAt(entry, 'conditions')])) {
          expect(valueAt(one, 'observedGeneration')).to.equal(generation);
        }
      }),
    );
  });
});
