/**
 * Runs the official Gateway API conformance suite against the product in a
 * cluster of its own: `make conformance`. See README.md.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Cluster, repository } from '../e2e/runner/cluster.js';
import { mustRun, run } from '../e2e/runner/command.js';
import { gatewayClass, productLog, startProduct, supportedFeatures } from './product.js';
import { count, disagreements, readInventory, rows, table } from './results.js';
import { identityFlags, profilesFor, readSettings, type Settings } from './settings.js';
import { SuiteOutput, type TestRun } from './suite-output.js';

const suite = join(repository, 'build', 'cluster', 'bin', 'conformance.test');
const limit = '60m';
// The class' pool holds the one, nothing holds the other (TEST-NET-3, for documentation only).
const addresses = ['--usable-address=127.100.0.200', '--unusable-address=203.0.113.1'];
const shownLines = 40;

const exitCodes = { good: 0, testsFailed: 1, usage: 2, broken: 3 } as const;

async function suiteArguments(
  settings: Settings,
  profiles: readonly string[],
  report: string,
): Promise<string[]> {
  const [only, ...more] = settings.tests;
  const several = more.length > 0 ? `/^(${settings.tests.join('|')})$` : '';
  return [
    suite,
    `-test.run=^TestConformance$${several}`,
    '-test.v=test2json',
    `-test.timeout=${limit}`,
    ...(settings.parallel === 1 ? ['--disable-parallel-tests'] : []),
    ...(settings.parallel === undefined ? [] : [`-test.parallel=${settings.parallel}`]),
    ...(only !== undefined && several === '' ? [`--run-test=${only}`] : []),
    `--gateway-class=${gatewayClass}`,
    `--conformance-profiles=${profiles.join(',')}`,
    `--report-output=${report}`,
    '--cleanup-base-resources=false', // the cluster goes away as a whole
    ...addresses,
    ...(await identityFlags()),
  ];
}

function announce(test: TestRun): void {
  if (test.result === 'skipped' || test.result === 'unsupported') return;
  console.log(`${test.result === 'passed' ? '  ok  ' : 'FAILED'} ${test.name} (${test.seconds} s)`);
}

async function explainFailure(cluster: Cluster, folder: string, test: TestRun): Promise<void> {
  console.log(`\n=== ${test.name}: the suite's last lines`);
  console.log(test.lines.slice(-shownLines).join('\n'));
  console.log(`=== ${test.name}: the product's log of that time`);
  console.log((await productLog(cluster, folder, test.begin, test.end)).slice(-shownLines).join('\n'));
}

async function runSuite(cluster: Cluster, settings: Settings, profiles: readonly string[]): Promise<number> {
  const report = join(settings.folder, 'report.yaml');
  const inventoryFile = join(settings.folder, 'inventory.json');
  await mustRun([suite, '-test.run=^TestInventory$'], { env: { ...process.env, INVENTORY: inventoryFile } });
  const inventory = await readInventory(inventoryFile);

  const output = new SuiteOutput(announce);
  const log = createWriteStream(join(settings.folder, 'suite.log'));
  const begin = Date.now();
  const { code } = await run(cluster.inside(await suiteArguments(settings, profiles, report)), {
    cwd: settings.folder,
    onOutput: (text) => {
      log.write(text);
      output.write(text);
    },
  });
  const all = rows(output.tests, inventory, profiles);
  await writeFile(join(settings.folder, 'results.json'), `${JSON.stringify(all, undefined, 2)}\n`);
  const failed = output.tests.filter((test) => test.result === 'failed');
  for (const test of failed) await explainFailure(cluster, settings.folder, test);
  if (code !== 0 && failed.length === 0) {
    console.log(output.setup.slice(-shownLines).join('\n'));
    console.log(
      (await productLog(cluster, settings.folder, begin, Date.now())).slice(-shownLines).join('\n'),
    );
  }
  console.log(`\n${table(all, inventory)}\n`);
  if (failed.length > 0) console.log(`failed: ${failed.map((test) => test.name).join(', ')}\n`);
  const differences = await disagreements(report, all).catch(() => ['the suite wrote no report']);
  if (output.tests.length === 0) console.log('the suite ended before its first test');
  else if ((code === 0) !== (failed.length === 0)) differences.push(`the suite ended with ${code}`);
  for (const difference of differences) console.log(`suite and report disagree: ${difference}`);
  console.log(`suite: ${Math.round((Date.now() - begin) / 1000)} s, exit code ${code}, report: ${report}`);
  // A run that ended before its first test is one failure.
  const failures = Math.max(failed.length, code === 0 ? 0 : 1);
  console.log(`${count(output.tests, 'passed')} passed, ${failures} failed`);
  if (differences.length > 0 || output.tests.length === 0) return exitCodes.broken;
  return failures > 0 ? exitCodes.testsFailed : exitCodes.good;
}

async function main(): Promise<number> {
  let settings: Settings;
  try {
    settings = readSettings(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return exitCodes.usage;
  }
  await rm(settings.folder, { recursive: true, force: true });
  await mkdir(settings.folder, { recursive: true });
  const cluster = await Cluster.start(join(settings.folder, 'cluster'), (text) => process.stdout.write(text));
  try {
    await startProduct(cluster, settings.local, settings.folder);
    const profiles = settings.profiles ?? profilesFor(await supportedFeatures(cluster));
    return await runSuite(cluster, settings, profiles);
  } catch (error) {
    console.error(error);
    console.log((await productLog(cluster, settings.folder, 0, Date.now())).slice(-shownLines).join('\n'));
    console.log('0 passed, 1 failed');
    return exitCodes.broken;
  } finally {
    await cluster.stop();
  }
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error);
    console.log('0 passed, 1 failed');
    return exitCodes.broken;
  }),
);
