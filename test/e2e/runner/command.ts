import { spawn, type ChildProcess } from 'node:child_process';

/** What a finished command left behind. A command ended by a signal has code 128. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Milliseconds after which the command is killed. */
  readonly timeout?: number;
  /** Called with each piece of output, from both streams. */
  readonly onOutput?: (text: string) => void;
}

const running = new Set<ChildProcess>();

/** Ends every process that {@link launch} started and that still runs. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

process.on('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.exit(130));
}

/** Starts a process that does not outlive this one. */
export function launch(argv: readonly string[], options: CommandOptions = {}): ChildProcess {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: 'pipe' });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Runs a command to its end. Only a command that cannot be started rejects. */
export function run(argv: readonly string[], options: CommandOptions = {}): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = launch(argv, options);
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onOutput?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      options.onOutput?.(text);
    });
    const timer =
      options.timeout === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.timeout);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 128, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined); // the command may end before it has read everything
    child.stdin?.end(options.input);
  });
}

/** Runs a command and returns its standard output; rejects when it fails. */
export async function mustRun(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const output = await run(argv, options);
  if (output.code !== 0) throw new Error(`${argv.join(' ')} ended with ${output.code}\n${output.stderr}`);
  return output.stdout;
}

/** Repeats an attempt until it succeeds; rejects with its last error after `timeout` milliseconds. */
export async function eventually<T>(attempt: () => Promise<T>, timeout: number, pause = 250): Promise<T> {
  for (const deadline = Date.now() + timeout; ;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(pause);
    }
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
