/** `make e2e`: starts a cluster and runs the cases inside its network. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { Cluster, repository } from './cluster.js';
import { run } from './command.js';

const results = join(repository, 'build', 'e2e');

async function main(): Promise<number> {
  await rm(results, { recursive: true, force: true });
  await mkdir(results, { recursive: true });
  const print = (text: string): boolean => process.stdout.write(text);
  const cluster = await Cluster.start(join(results, 'cluster'), print);
  try {
    const inner = join(import.meta.dirname, 'inside.ts');
    const { code } = await run(cluster.inside([process.execPath, '--import', 'tsx', inner]), {
      cwd: repository,
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig(), STATE: cluster.state, RESULTS: results },
      onOutput: print,
    });
    return code;
  } finally {
    await cluster.stop();
  }
}

process.exit(await main());
