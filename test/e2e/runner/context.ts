import type { ChildProcess } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from './cluster.js';
import { mustRun } from './command.js';

/** A background command of a case. */
export interface Background {
  readonly child: ChildProcess;
  readonly output: string[];
  readonly ended: Promise<number>;
}

/** What the steps of one case share. */
export class Context {
  readonly background = new Map<string, Background>();
  readonly environment: NodeJS.ProcessEnv;
  private readonly kubeconfig: string;

  constructor(
    readonly folder: string,
    readonly namespace: string,
    readonly variables: ReadonlyMap<string, string>,
    results: string,
  ) {
    // A kubeconfig of its own, so that objects without a namespace get that of the case, and others keep theirs.
    this.kubeconfig = join(results, `${namespace}.kubeconfig`);
    const tools = join(repository, 'test', 'e2e', 'tools', 'bin');
    this.environment = {
      ...process.env,
      ...Object.fromEntries(variables),
      KUBECONFIG: this.kubeconfig,
      PATH: `${tools}:${process.env['PATH'] ?? ''}`,
      NODE: process.execPath,
    };
  }

  /** Makes the case's namespace the default one of its commands. */
  async useNamespace(kubeconfig: string): Promise<void> {
    await copyFile(kubeconfig, this.kubeconfig);
    await this.kubectl(['config', 'set-context', '--current', `--namespace=${this.namespace}`]);
  }

  kubectl(argv: readonly string[], input?: string): Promise<string> {
    return mustRun(['kubectl', ...argv], {
      env: this.environment,
      ...(input === undefined ? {} : { input }),
    });
  }
}
