/**
 * `make bench`: the product as shipped beside its peers. In: names of scenarios (none: all). Out:
 * `build/bench/results.json` and `build/bench/report.md`. Exit status 1 when a target is missed.
 *
 * ROUNDS (4) and SECONDS_EACH (3) are the effort, CONTENDERS limits who takes part, WIRE chooses the product's, and
 * BASELINE=DIRECTORY has another build of the product (a `dist`) take part as `baseline`.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { measureScenario, type Measured } from './measure-scenario.js';
import { BUILD } from './paths.js';
import { stopAll } from './pinned-process.js';
import { ensurePrograms } from './prerequisites.js';
import { renderReport } from './report.js';
import type { Lane, Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios/scenarios.js';
import { judge, passes } from './verdicts.js';

function chosen(names: readonly string[]): readonly Scenario[] {
  const unknown = names.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `unknown: ${unknown.join(', ')}; there are ${SCENARIOS.map(({ name }) => name).join(', ')}`,
    );
  }
  const scenarios = names.length === 0 ? SCENARIOS : SCENARIOS.filter(({ name }) => names.includes(name));
  const contenders = process.env['CONTENDERS']?.split(/[\s,]+/);
  const restricted = contenders ? scenarios.map((scenario) => restrict(scenario, contenders)) : scenarios;
  return process.env['BASELINE'] === undefined ? restricted : restricted.map(withBaseline);
}

/** Every lane of the product a second time, with the other build. */
function withBaseline(scenario: Scenario): Scenario {
  const others = scenario.lanes
    .filter(({ contender }) => contender === 'trickster')
    .map((lane): Lane => ({
      ...lane,
      name: lane.name.replace('trickster', 'baseline'),
      contender: 'baseline',
    }));
  return { ...scenario, lanes: [...scenario.lanes, ...others] };
}

function restrict(scenario: Scenario, contenders: readonly string[]): Scenario {
  const lanes = scenario.lanes.filter(({ contender }) => contenders.includes(contender));
  const targets = scenario.targets.filter(({ against }) => lanes.some(({ name }) => name === against));
  return { ...scenario, lanes, targets };
}

async function main(): Promise<void> {
  const scenarios = chosen(process.argv.slice(2));
  const effort = {
    rounds: Number(process.env['ROUNDS'] ?? 4),
    seconds: Number(process.env['SECONDS_EACH'] ?? 3),
    warmSeconds: 4,
  };
  const contenders = scenarios.flatMap(({ lanes }) => lanes.map(({ contender }) => contender));
  ensurePrograms(
    new Set([
      'wrk',
      'h2load',
      'openssl',
      ...contenders.map((name) => (name === 'varnish' ? 'varnishd' : name)),
    ]),
  );
  const measured: Measured[] = [];
  for (const scenario of scenarios) {
    console.log(`${scenario.name}: ${scenario.title}`);
    measured.push(await measureScenario(scenario, effort));
  }
  const results = measured.flatMap((each) => each.results);
  writeFileSync(path.join(BUILD, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  const report = renderReport(measured, new Date());
  writeFileSync(path.join(BUILD, 'report.md'), report);
  console.log(`\n${report}`);
  if (!measured.flatMap((each) => judge(each)).every(passes)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stopAll();
}
