/** Runs the cases. The process lives inside the cluster's network; main.ts starts it. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { repository } from './cluster.js';
import { eventually, mustRun, run } from './command.js';
import { Context } from './context.js';
import { collect } from './evidence.js';
import { endBackground, execute } from './execute.js';
import { readCases, readStep, substitute, type Case } from './steps.js';

const root = join(repository, 'test', 'e2e');
const state = process.env['STATE'] ?? '';
const results = process.env['RESULTS'] ?? join(repository, 'build', 'e2e');

/** Cases of this prefix make what the others need: after their failure nothing else is tried. */
const foundation = '00-';

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

async function prepare(test: Case, context: Context): Promise<void> {
  await mustRun(['kubectl', 'create', 'namespace', context.namespace]);
  await context.useNamespace(process.env['KUBECONFIG'] ?? '');
  if (test.name.startsWith(foundation)) return;
  const base = await readFile(join(root, 'fixtures', 'base.yaml'), 'utf8');
  await context.kubectl(['apply', '-f', '-'], substitute(base, context.variables));
  await context.kubectl(['rollout', 'status', 'deployment/origin', '--timeout=60s']);
  await eventually(() => haveEndpoint(context), 30_000);
}

/** Endpoints follow ready pods by some time, and no status of a route promises them. */
async function haveEndpoint(context: Context): Promise<void> {
  const path = 'jsonpath={.items[*].endpoints[*].conditions.ready}';
  const slices = ['endpointslices', '-l', 'kubernetes.io/service-name=origin'];
  const ready = await context.kubectl(['get', ...slices, '-o', path]);
  if (!ready.includes('true')) throw new Error('the Service origin has no ready endpoint');
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
    await eventually(() => prepare(test, context), 5000, 1000);
    for (const file of test.files) {
      current = basename(file);
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
