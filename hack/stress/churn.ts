import { setTimeout as wait } from 'node:timers/promises';
import { PatternOrigin } from '../../test/support/stress/pattern-origin.js';
import { Dice } from '../../test/support/seeded-random.js';
import { runStressClients } from '../../test/support/stress/stress-clients.js';
import { makeCertificate } from '../bench/bench-certificate.js';
import type { Contender, Setup } from '../bench/contenders/contender.js';
import { startTrickster } from '../bench/contenders/trickster.js';
import { residentBytes } from '../bench/process-meter.js';
import { reportLine } from './report-line.js';

const CHANGE_EVERY_MS = 500;
const ROTATE_EVERY = 20;
const SAMPLE_EVERY_MS = 2_000;
/** The heap and the cache have grown to their size by then. */
const WARM_SHARE = 0.3;
/** Growth of the mean between two halves of the rest. */
const GROWTH_LIMIT = 0.1;

/** Clients that come, go, abandon and are cut, while routes change and certificates rotate. */
export async function churn(setup: Setup, minutes: number, seed: number): Promise<boolean> {
  const faults: string[] = [];
  const origin = await PatternOrigin.start(new Dice(seed + 1), (fault) => faults.push(fault));
  const contender = await startTrickster({ ...setup, origin: origin.port });
  const endsAt = performance.now() + minutes * 60_000;
  const background = [changeUntil(endsAt, contender, setup), sampleUntil(endsAt, contender)] as const;
  const outcome = await runStressClients({
    ports: contender,
    seed,
    lanes: 4,
    violence: 8,
    cuts: 4,
    largest: 3_000_000,
    goesOn: () => performance.now() < endsAt,
  });
  const [changes, samples] = await Promise.all(background);
  const measured = samples.slice(Math.floor(samples.length * WARM_SHARE));
  const middle = measured.length >> 1;
  const [before, after] = [mean(measured.slice(0, middle)), mean(measured.slice(middle))];
  await contender.process.stop();
  origin.close();
  for (const fault of [...faults, ...outcome.faults].slice(0, 20)) console.log(`     ${fault}`);
  reportLine('requests', outcome.asked, '');
  reportLine('complete and right', outcome.complete, '');
  reportLine('bytes compared', outcome.bytes / 1e9, 'GB');
  reportLine('changes of the configuration', changes, '');
  reportLine('resident memory', after / 1e6, 'MB');
  return [
    reportLine('faults', faults.length + outcome.faults.length, '', 0),
    reportLine('growth of resident memory', (100 * (after - before)) / before, '%', GROWTH_LIMIT * 100),
  ].every(Boolean);
}

async function changeUntil(endsAt: number, contender: Contender, setup: Setup): Promise<number> {
  let changes = 0;
  while (performance.now() < endsAt) {
    contender.change?.(++changes);
    if (changes % ROTATE_EVERY === 0) contender.rotate?.(makeCertificate(setup.directory));
    await wait(CHANGE_EVERY_MS);
  }
  return changes;
}

async function sampleUntil(endsAt: number, contender: Contender): Promise<number[]> {
  const samples: number[] = [];
  while (performance.now() < endsAt) {
    await wait(SAMPLE_EVERY_MS);
    samples.push(residentBytes(contender.process.pid));
  }
  return samples;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
