/**
 * `make bench-guard`: a short bench beside nginx. Exit status 1 when the CPU time of a request is more than a tenth
 * above what its target allows, or what was reached so far where that is less. Ends with `N passed, N failed`.
 */
import { measureScenario } from './measure-scenario.js';
import { stopAll } from './pinned-process.js';
import { ensurePrograms } from './prerequisites.js';
import { SCENARIOS } from './scenarios/scenarios.js';
import { judge } from './verdicts.js';

/** Scenario → ratio that was reached (docs/performance.md): raised when it is. */
const REACHED = new Map([
  ['h1-1k', 0.9],
  ['hit-1k', 1.5],
  ['tls-1k', 0.95],
]);
const EFFORT = { rounds: 3, seconds: 3, warmSeconds: 4 };
/** What is allowed beside the targets; the best round of each counts, see {@link judge}. */
const ALLOWANCE = 0.9;

async function main(): Promise<void> {
  ensurePrograms(new Set(['nginx', 'wrk']));
  let failed = 0;
  let passed = 0;
  for (const scenario of SCENARIOS.filter(({ name }) => REACHED.has(name))) {
    console.log(`${scenario.name}: ${scenario.title}`);
    const beside = {
      ...scenario,
      lanes: scenario.lanes.filter(({ name }) => name === 'trickster' || name === 'nginx'),
      targets: scenario.targets.filter(({ against }) => against === 'nginx'),
    };
    for (const { what, value, must } of judge(await measureScenario(beside, EFFORT), 'min')) {
      const least = Math.min(must, REACHED.get(scenario.name) ?? must) * ALLOWANCE;
      const isEnough = value >= least;
      console.log(
        `${isEnough ? 'ok  ' : 'FAIL'} ${scenario.name} ${value} ${what}, at least ${least.toFixed(2)}`,
      );
      if (isEnough) passed++;
      else failed++;
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stopAll();
}
