import { eventually, launch, run } from './command.js';
import type { Context } from './context.js';
import { match, show } from './match.js';
import type { CommandDocument, ObjectDocument, Step } from './steps.js';

// Without start-up files: bash reads them when its input is a socket, which is what Node.js gives it.
const shell = ['bash', '--norc', '-euo', 'pipefail', '-c'];

/** Carries out one step; rejects with what is wrong. */
export async function execute(step: Step, context: Context): Promise<void> {
  switch (step.kind) {
    case 'apply':
      // A kind may be served a moment after its definition was applied.
      await eventually(() => context.kubectl(['apply', '-f', '-'], step.text), 15_000, 500);
      return;
    case 'assert':
      for (const object of step.objects) {
        await eventually(() => assertObject(object, context), step.timeout * 1000);
      }
      return;
    case 'error':
      for (const object of step.objects) {
        await eventually(() => assertNone(object, context), step.timeout * 1000);
      }
      return;
    case 'command':
      for (const command of step.commands) await execCommand(command, context);
  }
}

async function get(wanted: ObjectDocument, context: Context): Promise<unknown> {
  const group = wanted.apiVersion.includes('/') ? wanted.apiVersion.split('/')[0] : '';
  const resource = group ? `${wanted.kind}.${group}` : wanted.kind;
  const namespace = wanted.metadata.namespace === undefined ? [] : ['-n', wanted.metadata.namespace];
  return JSON.parse(
    await context.kubectl(['get', resource, wanted.metadata.name, ...namespace, '-o', 'json']),
  );
}

async function assertObject(wanted: ObjectDocument, context: Context): Promise<void> {
  const differences = match(withoutVersion(wanted), await get(wanted, context));
  if (differences.length > 0) {
    throw new Error(`${wanted.kind} ${wanted.metadata.name} is not as expected\n${show(differences)}`);
  }
}

async function assertNone(unwanted: ObjectDocument, context: Context): Promise<void> {
  let actual: unknown;
  try {
    actual = await get(unwanted, context);
  } catch (error) {
    if (error instanceof Error && /NotFound|doesn't have a resource type/.test(error.message)) return;
    throw error;
  }
  if (match(withoutVersion(unwanted), actual).length === 0) {
    throw new Error(`${unwanted.kind} ${unwanted.metadata.name} is still there and matches`);
  }
}

/** kubectl answers in the version that it prefers. */
function withoutVersion(object: ObjectDocument): unknown {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'apiVersion'));
}

async function execCommand(command: CommandDocument, context: Context): Promise<void> {
  if (command.background !== undefined) {
    startBackground(command.background, command.run, context);
    return;
  }
  const stopped = /^stop (\S+)$/.exec(command.run)?.[1];
  if (stopped !== undefined) {
    await stopBackground(stopped, context);
    return;
  }
  const timeout = (command.timeout ?? 60) * 1000;
  if (command.retry) await eventually(() => attempt(command, context, timeout), timeout, 500);
  else await attempt(command, context, timeout);
}

async function attempt(command: CommandDocument, context: Context, timeout: number): Promise<void> {
  const { code, stdout, stderr } = await run([...shell, command.run], {
    cwd: context.folder,
    env: context.environment,
    timeout,
  });
  const output = stdout + stderr;
  const missing = (command.expect ?? []).filter((text) => !new RegExp(text, 's').test(output));
  const unwanted = (command.reject ?? []).filter((text) => new RegExp(text, 's').test(output));
  if (code === 0 && missing.length === 0 && unwanted.length === 0) return;
  const reasons = [
    ...(code === 0 ? [] : [`ended with ${code}`]),
    ...missing.map((text) => `printed nothing like ${text}`),
    ...unwanted.map((text) => `printed ${text}`),
  ];
  throw new Error(`${command.run.trim()}\n  ${reasons.join('\n  ')}\n${output}`);
}

function startBackground(name: string, text: string, context: Context): void {
  const child = launch([...shell, `exec ${text}`], {
    cwd: context.folder,
    env: context.environment,
  });
  const output: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => {
      resolve(code ?? 128);
    });
  });
  context.background.set(name, { child, output, ended });
}

async function stopBackground(name: string, context: Context): Promise<void> {
  const found = context.background.get(name);
  if (found === undefined) throw new Error(`nothing runs in the background as ${name}`);
  context.background.delete(name);
  found.child.kill('SIGTERM');
  const code = await found.ended;
  const output = found.output.join('');
  console.log(`    ${name}: ${output.trim().split('\n').at(-1) ?? ''}`);
  if (code !== 0) throw new Error(`${name} ended with ${code}\n${output}`);
}

/** Ends what a case left running. */
export async function endBackground(context: Context): Promise<void> {
  for (const { child, ended } of context.background.values()) {
    child.kill('SIGKILL');
    await ended;
  }
}
