/** Runs the cases. The process lives inside the cluster's network; main.ts starts it. */
import { join, relative } from 'node:path';

import { repository } from './cluster.js';
import { eventually, mustRun, run } from './command.js';
import { Context } from './context.js';
import { collect } from './evidence.js';
import { endBackground, execute } from './execute.js';
import { readCases, readStep, readSteps, type Case } from './steps.js';

const root = join(repository, 'test', 'e2e');
const state = process.env['STATE'] ?? '';
const results = process.env['RESULTS'] ?? join(repository, 'build', 'e2e');

/** Cases of this prefix make what the others need: after their failure nothing else is tried. */
const foundation = '00-';
/** The steps that every other case begins with. */
const base = await readSteps(join(root, 'base'));

function contextOf(test: Case): Context {
  const name = test.name.replace(/^\d\d-/, '');
  const namespace = `e2e-${name}`;
  const variables = new Map([
    ['NAMESPACE', namespace],
    ['CASE', name],
    ['REPOSITORY', repository],
    ['STATE', state],
    ['FIXTURES', join(root, 'fixtures')],
  ]);
  return new Context(test.folder, namespace, variables, results);
}

async function prepare(context: Context): Promise<void> {
  await mustRun(['kubectl', 'create', 'namespace', context.namespace]);
  await context.useNamespace(process.env['KUBECONFIG'] ?? '');
}

/** Whatever a case did to the cluster, the next one finds it working. */
async function restore(context: Context): Promise<void> {
  await endBackground(context);
  const fault = (name: string): Promise<unknown> => run(['fault', name], { env: context.environment });
  await fault('clear');
  await fault('etcd-start');
  await fault('apiserver-start');
}

/** Leaves without waiting: the namespaces of other cases are other ones. */
async function cleanUp(context: Context): Promise<void> {
  await run(['kubectl', 'delete', 'namespace', context.namespace, '--wait=false']);
}

async function runCase(test: Case): Promise<boolean> {
  const context = contextOf(test);
  const begin = Date.now();
  const seconds = (): string => `${((Date.now() - begin) / 1000).toFixed(1)} s`;
  let current = 'preparation';
  try {
    await eventually(() => prepare(context), 5000, 1000);
    for (const file of [...(test.name.startsWith(foundation) ? [] : base), ...test.files]) {
      current = relative(root, file);
      await execute(await readStep(file, context.variables), context);
    }
    console.log(`  ok   ${test.name} (${seconds()})`);
    return true;
  } catch (error) {
    console.log(`FAILED ${test.name} (${seconds()}) in ${current}\n`);
    console.log(String(error instanceof Error ? error.message : error).replaceAll(/^/gm, '    '));
    await collect(context, state, join(results, test.name), begin).catch((reason: unknown) => {
      console.log('    no evidence could be collected:', reason);
    });
    return false;
  } finally {
    await restore(context);
    await cleanUp(context);
  }
}

async function main(): Promise<number> {
  const words = (process.env['CASES'] ?? '').split(/[\s,]+/).filter((word) => word !== '');
  const wanted = words.length === 0 ? [] : [foundation, ...words];
  let passed = 0;
  let failed = 0;
  for (const test of await readCases(join(root, 'cases'), wanted)) {
    if (await runCase(test)) passed++;
    else if (++failed > 0 && test.name.startsWith(foundation)) break;
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

process.exit(await main());
