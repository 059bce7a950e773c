import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { launch, mustRun, run, type CommandOptions, type Output } from './command.js';

export const repository = join(import.meta.dirname, '..', '..', '..');

const program = join(repository, 'build', 'cluster', 'bin', 'testcluster');

/** A test cluster that lives as long as this process, or shorter. */
export class Cluster {
  private constructor(
    /** Folder of its logs, kubeconfigs and pods. */
    readonly state: string,
    private readonly end: () => Promise<void>,
  ) {}

  /** Builds what is missing and starts a fresh cluster with the Gateway API's CRDs. */
  static async start(state: string, onOutput: (text: string) => void): Promise<Cluster> {
    await mkdir(state, { recursive: true });
    const argv = [join(repository, 'hack', 'cluster', 'cluster'), 'up', '-foreground', '-state', state];
    const child = launch(argv);
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => {
        resolve();
      });
    });
    await new Promise<void>((resolve, reject) => {
      const read = (text: string): void => {
        onOutput(text);
        if (text.includes('cluster ready')) resolve();
      };
      child.stdout?.setEncoding('utf8').on('data', read);
      child.stderr?.setEncoding('utf8').on('data', read);
      child.once('error', reject);
      child.once('close', (code) => {
        reject(new Error(`the cluster did not start (${String(code)})`));
      });
    });
    return new Cluster(state, async () => {
      child.stdin?.end(); // it stops when its input ends
      await ended;
    });
  }

  /** The administrator's kubeconfig; the relayed one is what faults act on. */
  kubeconfig(relayed = false): string {
    return join(this.state, relayed ? 'kubeconfig-relay' : 'kubeconfig');
  }

  /** The command that runs `argv` inside the cluster's network. */
  inside(argv: readonly string[]): string[] {
    return [program, 'exec-in', '-state', this.state, '--', ...argv];
  }

  run(argv: readonly string[], options: CommandOptions = {}): Promise<Output> {
    return run(this.inside(argv), options);
  }

  kubectl(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
    return mustRun(this.inside(['kubectl', ...argv]), options);
  }

  stop(): Promise<void> {
    return this.end();
  }
}
