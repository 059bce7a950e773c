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
    const { code, stdout } = await run(cluster.inside([process.execPath, '--import', 'tsx', inner]), {
      cwd: repository,
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig(), STATE: cluster.state, RESULTS: results },
      onOutput: print,
    });
    // The cases count themselves, unless it did not come so far.
    if (!/^\d+ passed, \d+ failed$/m.test(stdout)) console.log('0 passed, 1 failed');
    return code;
  } finally {
    await cluster.stop();
  }
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error);
    console.log('0 passed, 1 failed');
    return 1;
  }),
);
