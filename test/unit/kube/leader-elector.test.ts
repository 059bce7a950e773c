import { expect } from 'chai';
import { firstValueFrom } from 'rxjs';

import { KubeApiError } from '../../../src/kube/kube-api-error.js';
import { LeaderElector } from '../../../src/kube/leader-elector.js';
import {
  neverLeading,
  NOT_LEADING,
  withoutElection,
  type LeadershipTerm,
} from '../../../src/kube/leadership.js';
import { numberAt, textAt, valueAt } from '../../../src/kube/json.js';
import { MemoryApi } from '../../support/kube/memory-api.js';
import { silentLogger } from '../../support/kube/objects.js';
import { ManualClock, settled } from '../../support/manual-clock.js';

const PATH = '/apis/coordination.k8s.io/v1/namespaces/infra/leases/controller';
const broken = new KubeApiError('PUT', { status: 500, reason: '500' });

describe('kube/leader-elector', () => {
  let api: MemoryApi;
  let clock: ManualClock;
  const started: LeaderElector[] = [];

  beforeEach(() => {
    api = new MemoryApi();
    clock = new ManualClock();
  });

  afterEach(async () => {
    api.intercept = () => undefined;
    await Promise.all(started.splice(0).map((elector) => elector.stop()));
    expect(clock.sleeping, 'timers left').to.equal(0);
  });

  function candidate(identity: string, itsClock = clock) {
    const elector = new LeaderElector({
      client: api,
      namespace: 'infra',
      name: 'controller',
      identity,
      clock: itsClock,
      logger: silentLogger,
      random: () => 0,
    });
    started.push(elector);
    const terms: (LeadershipTerm | undefined)[] = [];
    const subscription = elector.leadership$.subscribe({
      next: (leadership) => terms.push(leadership.leading ? leadership.term : undefined),
      error: (error: unknown) => {
        throw error;
      },
    });
    elector.start();
    return { elector, terms, subscription, leads: () => terms.at(-1)?.isCurrent() === true };
  }

  const spec = (field: string): unknown => valueAt(api.objects.get(PATH), 'spec', field);

  it('creates the Lease and leads; a second candidate waits', async () => {
    const first = candidate('one');
    await settled();
    const second = candidate('two');
    await clock.advance(60_000);
    expect([first.leads(), second.leads()]).to.deep.equal([true, false]);
    expect(first.terms.at(-1)?.number).to.equal(1);
    expect(spec('holderIdentity')).to.equal('one');
    expect(spec('leaseDurationSeconds')).to.equal(15);
    expect(spec('renewTime')).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(first.terms).to.have.length(2);
  });

  it('renews every two seconds and keeps the number of its term', async () => {
    candidate('one');
    await clock.advance(9_000);
    expect(api.calls.filter((call) => call === `PUT ${PATH}`)).to.have.length(4);
    expect(numberAt(api.objects.get(PATH), 'spec', 'leaseTransitions')).to.equal(1);
  });

  it('is not leading from the renew deadline on, and others take over only after that', async () => {
    const first = candidate('one');
    await settled();
    const second = candidate('two');
    await clock.advance(4_000);
    const term = first.terms.at(-1);
    api.intercept = (call) => (call.startsWith('PUT') ? broken : undefined);
    await clock.advance(9_999);
    expect(first.leads()).to.equal(true);
    await clock.advance(1);
    expect(first.leads()).to.equal(false);
    expect(first.terms.at(-1)).to.equal(undefined);
    expect(term?.signal.aborted).to.equal(true);
    api.intercept = () => undefined;
    first.subscription.unsubscribe();
    await first.elector.stop();
    await clock.advance(6_000);
    expect(second.leads()).to.equal(true);
    expect(second.terms.at(-1)?.number).to.equal(2);
  });

  it('ends the term at the deadline even while a request hangs', async () => {
    const first = candidate('one');
    await clock.advance(1_000);
    api.intercept = () => new Promise<void>(() => undefined);
    await clock.advance(8_999);
    expect(first.leads()).to.equal(true);
    await clock.advance(1);
    expect(first.terms.at(-1)).to.equal(undefined);
  });

  it('begins a new term, with a new number, after it lost one to itself', async () => {
    const first = candidate('one');
    await clock.advance(1_000);
    api.intercept = () => broken;
    await clock.advance(10_000);
    expect(first.leads()).to.equal(false);
    api.intercept = () => undefined;
    await clock.advance(2_000);
    expect(first.leads()).to.equal(true);
    expect(first.terms.at(-1)?.number).to.equal(2);
  });

  it('knows that its term is over although no timer has fired, as after a long pause of the process', async () => {
    const paused = new ManualClock();
    const first = candidate('one', paused);
    await settled();
    const term = first.terms.at(-1);
    expect(term?.isCurrent()).to.equal(true);
    // Time goes by, timers do not.
    const now = paused.now();
    paused.now = () => now + 10_000;
    expect(term?.isCurrent()).to.equal(false);
    paused.now = () => now;
    await first.elector.stop();
  });

  it('measures expiry on its own clock, whatever the times in the Lease say', async () => {
    const old = {
      holderIdentity: 'gone',
      leaseDurationSeconds: 15,
      renewTime: '1999-01-01T00:00:00.000000Z',
      leaseTransitions: 6,
    };
    api.put(PATH, { metadata: { name: 'controller', namespace: 'infra' }, spec: old });
    const second = candidate('two');
    await clock.advance(14_000);
    expect(second.leads()).to.equal(false);
    await clock.advance(2_000);
    expect(second.leads()).to.equal(true);
    expect(second.terms.at(-1)?.number).to.equal(7);
  });

  it('lets one of two candidates win when both try at once', async () => {
    const both = [candidate('one'), candidate('two')];
    await clock.advance(10_000);
    expect(both.filter(({ leads }) => leads())).to.have.length(1);
  });

  it('gives the Lease back when it stops, after its term has ended, so that the next need not wait', async () => {
    const first = candidate('one');
    await settled();
    const second = candidate('two');
    await clock.advance(3_000);
    let endedBefore = false;
    api.intercept = (call) => {
      if (call.startsWith('PUT')) endedBefore = first.terms.at(-1) === undefined;
      return undefined;
    };
    await first.elector.stop();
    expect(endedBefore).to.equal(true);
    expect(textAt(api.objects.get(PATH), 'spec', 'holderIdentity')).to.equal(undefined);
    await clock.advance(2_000);
    expect(second.leads()).to.equal(true);
  });

  it('does not take the Lease back from another when it stops late', async () => {
    const first = candidate('one');
    await settled();
    api.put(PATH, { metadata: {}, spec: { holderIdentity: 'two', leaseDurationSeconds: 15 } });
    await clock.advance(2_000);
    expect(first.leads()).to.equal(false);
    await first.elector.stop();
    expect(spec('holderIdentity')).to.equal('two');
  });

  it('stops although the Lease cannot be released', async () => {
    const first = candidate('one');
    await settled();
    api.intercept = () => broken;
    await first.elector.stop();
    expect(first.leads()).to.equal(false);
  });

  it('goes on trying while the API server is away', async () => {
    api.intercept = () => broken;
    const first = candidate('one');
    await clock.advance(300_000);
    expect(first.leads()).to.equal(false);
    api.intercept = () => undefined;
    await clock.advance(2_000);
    expect(first.leads()).to.equal(true);
  });
});

describe('kube/leadership', () => {
  it('without an election leads until it stops', async () => {
    const election = withoutElection();
    const leadership = await firstValueFrom(election.leadership$, { defaultValue: NOT_LEADING });
    expect(leadership.leading && leadership.term.isCurrent()).to.equal(true);
    await election.stop();
    expect(leadership.leading && leadership.term.isCurrent()).to.equal(false);
  });

  it('read-only never leads', async () => {
    const election = neverLeading();
    election.start();
    expect(await firstValueFrom(election.leadership$, { defaultValue: NOT_LEADING })).to.deep.equal({
      leading: false,
    });
    await election.stop();
  });
});
