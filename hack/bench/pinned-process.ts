import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BUILD } from './paths.js';
import { family } from './process-meter.js';

/** What is measured runs on one core, what measures it (load and origins) on another. */
export const PROXY_CORE = 0;
export const LOAD_CORE = 1;

const KILL_AFTER_MS = 5_000;

export interface Program {
  readonly name: string;
  readonly core: number;
  readonly command: readonly string[];
  /** It is up when it accepts connections here. */
  readonly port: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
}

const running = new Set<PinnedProcess>();

/**
 * What a command is started through: on one core, before everything else that would like to run there. Where that is
 * not allowed, `nice` says so and goes on without.
 */
export function pinned(core: number, command: readonly string[]): readonly [string, ...string[]] {
  return ['nice', '-n', '-20', 'taskset', '-c', String(core), ...command];
}

/** A program on one core. Its output goes to `build/bench/log/NAME.log`. */
export class PinnedProcess {
  readonly name: string;
  readonly #child: ChildProcess;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
  }

  /** Resolves when it listens. */
  static async start(program: Program): Promise<PinnedProcess> {
    const { name, core, command, port, environment, deadlineMs = 15_000 } = program;
    mkdirSync(path.join(BUILD, 'log'), { recursive: true });
    const log = openSync(path.join(BUILD, 'log', `${name}.log`), 'w');
    // nice and taskset become the program: the process id stays.
    const [first, ...rest] = pinned(core, command);
    const child = spawn(first, rest, {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...environment },
    });
    const started = new PinnedProcess(name, child);
    running.add(started);
    try {
      await started.#listens(port, deadlineMs);
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} did not start`);
    return this.#child.pid;
  }

  /** Ends it and everything it started. Throws when it had ended by itself. */
  async stop(): Promise<void> {
    running.delete(this);
    if (this.#hasEnded) {
      throw new Error(`${this.name} ended by itself, see build/bench/log/${this.name}.log`);
    }
    const exited = once(this.#child, 'exit');
    const members = family(this.pid);
    const end = (signal: NodeJS.Signals): void => {
      for (const pid of members) sendSignal(pid, signal);
    };
    end('SIGTERM');
    const timer = setTimeout(end, KILL_AFTER_MS, 'SIGKILL');
    await exited;
    clearTimeout(timer);
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #listens(port: number, deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!(await isOpen(port))) {
      if (this.#hasEnded) throw new Error(`${this.name} ended, see build/bench/log/${this.name}.log`);
      if (performance.now() > deadline) throw new Error(`${this.name} does not listen on port ${port}`);
      await wait(50);
    }
  }
}

/** For the end of a run that failed: nothing that was started outlives it. */
export async function stopAll(): Promise<void> {
  await Promise.allSettled([...running].map((each) => each.stop()));
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
