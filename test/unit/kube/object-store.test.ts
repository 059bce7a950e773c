import { expect } from 'chai';
import fc from 'fast-check';

import { ObjectStore } from '../../../src/kube/object-store.js';
import { parseWatchEvent } from '../../../src/kube/watch-event.js';
import { decodeThing, line, printThings, rawThing, type Thing } from '../../support/kube/objects.js';

const names = fc.constantFrom('a', 'b', 'c');
const colours = fc.constantFrom('red', 'blue');
const step = fc.oneof(
  fc.record({ type: fc.constant('list' as const), things: fc.dictionary(names, colours) }),
  fc.record({ type: fc.constantFrom('ADDED' as const, 'MODIFIED' as const), name: names, colour: colours }),
  fc.record({ type: fc.constant('DELETED' as const), name: names }),
);

function applyEvent(store: ObjectStore<Thing>, text: string): boolean {
  const event = parseWatchEvent(text);
  return event.type !== 'bookmark' && store.apply(event);
}

describe('kube/object-store', () => {
  it('holds what a naive map would hold, and reports a change exactly when there is one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const store = new ObjectStore(decodeThing, undefined);
        const oracle = new Map<string, string>();
        let version = 0;
        for (const one of steps) {
          version += 1;
          const before = printThings(store.snapshot());
          let changed: boolean;
          if (one.type === 'list') {
            oracle.clear();
            for (const [name, colour] of Object.entries(one.things)) oracle.set(name, colour);
            changed = store.replace(
              [...oracle].map(([name, colour]) => rawThing(name, String(version), colour)),
            );
          } else if (one.type === 'DELETED') {
            oracle.delete(one.name);
            changed = applyEvent(store, line(one.type, rawThing(one.name, String(version))));
          } else {
            oracle.set(one.name, one.colour);
            changed = applyEvent(store, line(one.type, rawThing(one.name, String(version), one.colour)));
          }
          const after = printThings(store.snapshot());
          const wanted = [...oracle].map(([name, colour]) => `ns/${name}=${colour}`).sort();
          expect(after).to.equal(wanted.join(' '));
          expect(changed).to.equal(before !== after);
        }
      }),
    );
  });

  it('does not even read an object of a list whose version is known', () => {
    let read = 0;
    const store = new ObjectStore((raw) => {
      read += 1;
      return decodeThing(raw);
    }, undefined);
    store.replace([rawThing('a', '1'), rawThing('b', '2')]);
    store.replace([rawThing('a', '1'), rawThing('b', '3')]);
    expect(read).to.equal(3);
  });

  it('lets an observer see every raw object, also those that cannot be read, and hear when one goes', () => {
    const heard: string[] = [];
    const store = new ObjectStore(decodeThing, {
      seen: (key) => heard.push(`seen ${key}`),
      gone: (key) => heard.push(`gone ${key}`),
    });
    store.replace([rawThing('a', '1'), rawThing('b', '2', '')]);
    store.replace([rawThing('a', '1')]);
    expect(heard).to.deep.equal(['seen ns/a', 'seen ns/b', 'gone ns/b']);
  });

  it('passes over items that have no name', () => {
    const store = new ObjectStore(decodeThing, undefined);
    expect(store.replace([null, 5, { metadata: {} }, rawThing('a', '1')])).to.equal(true);
    expect(printThings(store.snapshot())).to.equal('ns/a=red');
  });
});
