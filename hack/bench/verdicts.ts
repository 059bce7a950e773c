import type { Measured, Result } from './measure-scenario.js';

/** How the product did against one target. */
export interface Verdict {
  readonly scenario: string;
  /** What was compared, in words. */
  readonly what: string;
  readonly value: number;
  readonly must: number;
  readonly stretch: number | undefined;
  /** Whether more is better. */
  readonly rising: boolean;
}

export function passes({ value, must, rising }: Verdict): boolean {
  return rising ? value >= must : value <= must;
}

export function reachesStretch({ value, stretch, rising }: Verdict): boolean {
  if (stretch === undefined) return false;
  return rising ? value >= stretch : value <= stretch;
}

/**
 * `median`: what to expect of a machine as it is. `min`: the best round of each, for a machine that others use as
 * well, since what they do only ever adds to the CPU time of a request.
 */
export type Statistic = 'median' | 'min';

export function judge({ scenario, results, facts }: Measured, statistic: Statistic = 'median'): Verdict[] {
  const subject = results.find(({ contender }) => contender === (scenario.subject ?? 'trickster'));
  // CONTENDERS has left it out: nothing is judged.
  if (!subject) return [];
  const common = { scenario: scenario.name };
  const verdicts: Verdict[] = scenario.targets.map(({ against, must, stretch }) => {
    const rising = scenario.measure === 'cpu';
    const peer = resultOf(results, against);
    const value = rising ? capacity(subject, peer, statistic) : latency(subject, peer);
    return { ...common, what: `× ${against}`, value, must, stretch, rising };
  });
  if (scenario.surcharge) {
    const { over, micros } = scenario.surcharge;
    const plain = resultOf(results, over);
    const value = round(subject.cpuMicrosPerRequest.median - plain.cpuMicrosPerRequest.median);
    verdicts.push({
      ...common,
      what: `µs over ${over}`,
      value,
      must: micros,
      stretch: undefined,
      rising: false,
    });
  }
  for (const { name, value, unit, limit } of facts) {
    if (limit === undefined) continue;
    verdicts.push({
      ...common,
      what: `${unit}, ${name}`,
      value,
      must: limit,
      stretch: undefined,
      rising: false,
    });
  }
  return verdicts;
}

/** How many times the peer's capacity of a core. */
function capacity(subject: Result, peer: Result, statistic: Statistic): number {
  return round(peer.cpuMicrosPerRequest[statistic] / subject.cpuMicrosPerRequest[statistic]);
}

/** How many times the peer's p99. */
function latency(subject: Result, peer: Result): number {
  return round((subject.p99Micros?.median ?? NaN) / (peer.p99Micros?.median ?? NaN));
}

function resultOf(results: readonly Result[], name: string): Result {
  const found = results.find(({ contender }) => contender === name);
  if (!found) throw new Error(`nothing was measured for ${name}`);
  return found;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
