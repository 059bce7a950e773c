import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { run } from './command.js';
import type { Context } from './context.js';

const shownLines = 25;
const kinds =
  'gateways,listenersets,httproutes,grpcroutes,tlsroutes,tcproutes,udproutes,backendtlspolicies,services,endpointslices,pods';
const productNamespace = 'trickster-gateway';

/** Keeps events, objects and logs of a failed case in `folder`, and prints the most telling part. */
export async function collect(context: Context, state: string, folder: string, since: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const events = await kubectl(context, ['get', 'events', '--sort-by=.lastTimestamp']);
  await writeFile(join(folder, 'events.txt'), events);
  await writeFile(join(folder, 'objects.yaml'), await kubectl(context, ['get', kinds, '-o', 'yaml']));
  const product = await podLogs(state, productNamespace, since);
  await writeFile(join(folder, 'product.log'), product);
  await writeFile(join(folder, 'pods.log'), await podLogs(state, context.namespace, since));
  console.log(`    events of ${context.namespace}:\n${indent(events)}`);
  console.log(`    the product's log:\n${indent(product)}`);
  console.log(`    more in ${folder}`);
}

async function kubectl(context: Context, argv: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(['kubectl', ...argv], {
    env: context.environment,
    timeout: 10_000,
  });
  return stdout || stderr;
}

/** Logs of a namespace's pods, those that are gone included, from a time on. */
async function podLogs(state: string, namespace: string, since: number): Promise<string> {
  const parts: string[] = [];
  for await (const file of glob(join(state, 'pods', `${namespace}_*`, '*.log'))) {
    const pod = basename(dirname(file)).split('_')[1] ?? '';
    const lines = (await readFile(file, 'utf8')).split('\n');
    const recent = lines.filter((line) => Date.parse(line.slice(0, line.indexOf(' '))) >= since);
    if (recent.length > 0) parts.push(`--- ${pod}`, ...recent);
  }
  return parts.join('\n');
}

function indent(text: string): string {
  const lines = text.trim().split('\n').slice(-shownLines);
  return lines.map((line) => `      ${line.slice(0, 300)}`).join('\n');
}
