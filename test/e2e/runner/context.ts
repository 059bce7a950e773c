import type { ChildProcess } from 'node:child_process';
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

  constructor(
    readonly folder: string,
    readonly namespace: string,
    readonly variables: ReadonlyMap<string, string>,
  ) {
    const tools = join(repository, 'test', 'e2e', 'tools', 'bin');
    this.environment = {
      ...process.env,
      ...Object.fromEntries(variables),
      PATH: `${tools}:${process.env['PATH'] ?? ''}`,
      NODE: process.execPath,
    };
  }

  kubectl(argv: readonly string[], input?: string): Promise<string> {
    return mustRun(['kubectl', '-n', this.namespace, ...argv], {
      env: this.environment,
      ...(input === undefined ? {} : { input }),
    });
  }
}
