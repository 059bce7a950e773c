import { expect } from 'chai';

import { listAt } from '../../../src/kube/json.js';
import { combineStatusSinks } from '../../../src/status/status-sink.js';
import { StatusStore } from '../../../src/status/status-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { condition, CONTROLLER, planned, routeStatus } from '../../support/status/plans.js';

describe('status/status-store', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const accepted = (status: 'True' | 'False', generation = 1, uid = 'uid-x') =>
    planned(routeStatus(['edge', condition('Accepted', status)]), generation, { uid });

  it('holds statuses as the API server would, with times that move only when a status flips', async () => {
    const store = new StatusStore(CONTROLLER, clock);
    combineStatusSinks(store).publish([accepted('True')]);
    const first = store.get('HTTPRoute', 'ns', 'x');
    await clock.advance(60_000);
    store.publish([accepted('True')]);
    expect(store.get('HTTPRoute', 'ns', 'x')).to.equal(first);
    store.publish([accepted('True', 2)]);
    const time = (): unknown =>
      (
        listAt(listAt(store.get('HTTPRoute', 'ns', 'x')?.status, 'parents')[0], 'conditions')[0] as Record<
          string,
          unknown
        >
      )['lastTransitionTime'];
    expect(time()).to.equal('2026-01-01T00:00:00Z');
    store.publish([accepted('False', 2)]);
    expect(time()).to.equal('2026-01-01T00:01:00Z');
  });

  it('forgets objects that leave the plan, and the history of one that was made anew', () => {
    const store = new StatusStore(CONTROLLER, clock);
    store.publish([accepted('True')]);
    const first = store.get('HTTPRoute', 'ns', 'x');
    store.publish([accepted('True', 1, 'another')]);
    expect(store.list()).to.have.length(1);
    expect(store.list()[0]).to.not.equal(first);
    store.publish([]);
    expect(store.list()).to.deep.equal([]);
  });
});
