import { expect } from 'chai';
import fc from 'fast-check';
import { Timer, TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';

class Probe extends Timer {
  readonly expiredAt: number[] = [];

  constructor(
    readonly now: () => number,
    readonly then: () => void = () => undefined,
  ) {
    super();
  }

  override expire(): void {
    this.expiredAt.push(this.now());
    this.then();
  }
}

describe('TimerWheel', () => {
  let time = 0;
  const now = (): number => time;
  let wheel: TimerWheel;

  beforeEach(() => {
    time = 1000;
    wheel = new TimerWheel(20, now);
  });

  function pass(ms: number, step = 20): void {
    for (const end = time + ms; time < end;) {
      time = Math.min(time + step, end);
      wheel.advance();
    }
  }

  it('is never early and at most two ticks late, however long the wait and however time passes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 1, max: 500 }), (ms, step) => {
        time = 1000;
        wheel = new TimerWheel(20, now);
        const probe = new Probe(now);
        wheel.arm(probe, ms);
        pass(ms + 2 * step + 60, step);
        expect(probe.expiredAt).to.have.length(1);
        expect(probe.expiredAt[0]! - 1000).to.be.within(ms, ms + step + 40);
      }),
      { numRuns: 60 },
    );
  });

  it('arming again replaces, in both directions', () => {
    const later = new Probe(now);
    wheel.arm(later, 100);
    wheel.arm(later, 500);
    const sooner = new Probe(now);
    wheel.arm(sooner, 500);
    wheel.arm(sooner, 100);
    pass(300);
    expect([later.expiredAt.length, sooner.expiredAt.length]).to.deep.equal([0, 1]);
    pass(400);
    expect([later.expiredAt.length, sooner.expiredAt.length]).to.deep.equal([1, 1]);
  });

  it('disarmed and removed timers stay silent, and can be armed again', () => {
    const disarmed = new Probe(now);
    const removed = new Probe(now);
    for (const probe of [disarmed, removed]) wheel.arm(probe, 100);
    wheel.disarm(disarmed);
    wheel.remove(removed);
    pass(1000);
    expect([...disarmed.expiredAt, ...removed.expiredAt]).to.deep.equal([]);
    for (const probe of [disarmed, removed]) wheel.arm(probe, 100);
    pass(200);
    expect([disarmed.expiredAt.length, removed.expiredAt.length]).to.deep.equal([1, 1]);
  });

  it('what expires may arm itself and remove others of the same moment', () => {
    const victim = new Probe(now);
    const killer = new Probe(now, () => {
      wheel.remove(victim);
      if (killer.expiredAt.length < 3) wheel.arm(killer, 50);
    });
    wheel.arm(killer, 100);
    wheel.arm(victim, 100);
    pass(1000);
    expect(killer.expiredAt).to.have.length(3);
    expect(victim.expiredAt).to.have.length(0);
  });

  it('survives a stall longer than a revolution', () => {
    const probes = [50, 5000, 15_000, 60_000].map((ms) => {
      const probe = new Probe(now);
      wheel.arm(probe, ms);
      return probe;
    });
    time += 30_000;
    wheel.advance();
    expect(probes.map(({ expiredAt }) => expiredAt.length)).to.deep.equal([1, 1, 1, 0]);
    pass(31_000);
    expect(probes[3]!.expiredAt).to.have.length(1);
  });
});
