/**
 * `make bench-guard`: a short bench beside nginx. Exit status 1 when the CPU time of a request is more than a tenth
 * above what its target allows.
 */
import { measureScenario } from './measure-scenario.js';
import { stopAll } from './pinned-process.js';
import { ensurePrograms } from './prerequisites.js';
import { SCENARIOS } from './scenarios/scenarios.js';
import { judge } from './verdicts.js';

const GUARDED = ['h1-1k', 'hit-1k', 'tls-1k'];
const EFFORT = { rounds: 3, seconds: 3, warmSeconds: 4 };
/** What is allowed beside the targets; the best round of each counts, see {@link judge}. */
const ALLOWANCE = 0.9;

async function main(): Promise<void> {
  ensurePrograms(new Set(['nginx', 'wrk']));
  for (const scenario of SCENARIOS.filter(({ name }) => GUARDED.includes(name))) {
    console.log(`${scenario.name}: ${scenario.title}`);
    const beside = {
      ...scenario,
      lanes: scenario.lanes.filter(({ name }) => name === 'trickster' || name === 'nginx'),
      targets: scenario.targets.filter(({ against }) => against === 'nginx'),
    };
    for (const { what, value, must } of judge(await measureScenario(beside, EFFORT), 'min')) {
      const least = must * ALLOWANCE;
      const isEnough = value >= least;
      console.log(
        `${isEnough ? 'ok  ' : 'FAIL'} ${scenario.name} ${value} ${what}, at least ${least.toFixed(2)}`,
      );
      if (!isEnough) process.exitCode = 1;
    }
  }
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stopAll();
}
