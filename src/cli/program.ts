/**
 * The command line. In: arguments and environment. Out: text and an exit status. What a command does is in a file of
 * its own; this one only says which there are.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

import { messageOf, OperatorError } from '../util/errors.js';
import { productVersion } from '../util/version.js';
import { EXIT, exitCodeOf } from './exit-codes.js';
import { explainCommand, type ExplainOptions } from './explain-command.js';
import { runCommand, type RunFlags } from './run-command.js';
import { statusCommand, type StatusOptions } from './status-command.js';
import { translateCommand, type TranslateOptions } from './translate-command.js';
import { validateCommand } from './validate-command.js';

/** Runs one command; resolves with the exit status. Never rejects. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.fine;
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    process.stderr.write(`${messageOf(error)}\n`);
    return exitCodeOf(error);
  }
}

function createProgram(exit: Exit): Command {
  const program = new Command('trickster-gateway')
    .description('A Kubernetes Gateway API controller with an embedded caching proxy engine')
    .exitOverride()
    .showHelpAfterError();
  addRun(program, exit);
  addOffline(program, exit);
  addQuestions(program);
  return program;
}

type Exit = (code: number) => void;

function addRun(program: Command, exit: Exit): void {
  program
    .command('run', { isDefault: true })
    .description('serve what a cluster or a directory of YAML files says')
    .addOption(config())
    .addOption(fromEnvironment('--kubeconfig <file>', 'connect to the cluster of this file'))
    .addOption(fromEnvironment('--source <dir>', 'serve the objects of this directory, without a cluster'))
    .addOption(fromEnvironment('--workers <n>', 'worker threads').argParser(toCount))
    .addOption(fromEnvironment('--wire <wire>', 'transport').choices(['auto', 'handle', 'net']))
    .addOption(
      fromEnvironment('--log-level <level>', 'how much to log').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .action(async (flags: RunFlags) => {
      exit(await runCommand(flags));
    });
}

/** Commands that read files and need no running process. */
function addOffline(program: Command, exit: Exit): void {
  program
    .command('validate')
    .description('say every problem of every object; exit 1 when there is one')
    .argument('<paths...>', 'files and directories')
    .addOption(config())
    .action((paths: string[], flags: { config?: string }) => {
      const report = validateCommand(paths, flags.config);
      process.stdout.write(report.text);
      exit(report.exitCode);
    });
  program
    .command('translate')
    .description('print what would be served and what the statuses would say')
    .argument('<paths...>', 'files and directories')
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .option('--add-missing-resources', 'invent Gateways, classes and Services that routes name')
    .addOption(config())
    .action((paths: string[], options: TranslateOptions) => {
      const { text, problems } = translateCommand(paths, options);
      process.stdout.write(text);
      for (const problem of problems) process.stderr.write(`${problem}\n`);
      if (problems.length > 0) exit(EXIT.input);
    });
}

/** Commands that ask a running process. */
function addQuestions(program: Command): void {
  program
    .command('explain')
    .description('say which listener, route, rule and backend a request meets, and why')
    .argument('<words...>', '[METHOD] URL')
    .option('-H, --header <name:value>', 'a header field of the request', collect, [])
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .addOption(mgmt())
    .action(async (words: string[], options: ExplainOptions) => {
      process.stdout.write(await explainCommand(words, options));
    });
  program
    .command('status')
    .description('conditions of everything that a running process knows, worst first')
    .argument('[kind]', 'only this kind')
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option('-n, --namespace <namespace>', 'only of this one')
    .option('-o, --output <format>', 'wide, yaml or json')
    .addOption(mgmt())
    .action(async (kind: string | undefined, options: StatusOptions) => {
      process.stdout.write(await statusCommand(kind, options));
    });
  program
    .command('version')
    .description('print the version')
    .action(() => {
      process.stdout.write(`trickster-gateway ${productVersion()} (Node ${process.version})\n`);
    });
}

function mgmt(): Option {
  return fromEnvironment('--mgmt <url>', 'management port').default('http://127.0.0.1:8484');
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function config(): Option {
  return fromEnvironment('--config <file>', 'configuration file (docs/configuration.md)');
}

/** A flag that `TRICKSTER_…`, named after it, can set as well; the flag wins. */
function fromEnvironment(flags: string, description: string): Option {
  const [, name = ''] = /^--([a-z-]+)/.exec(flags) ?? [];
  return new Option(flags, description).env(`TRICKSTER_${name.toUpperCase().replaceAll('-', '_')}`);
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 256) {
    throw new InvalidArgumentError('must be a whole number from 1 to 256');
  }
  return count;
}

/** For errors nobody has caught: a bug, told in one line, and the process lives on (invariant 10). */
export function reportBug(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const code = error instanceof OperatorError ? ` (${error.code})` : '';
  process.stderr.write(`unexpected error${code}: ${text}\n`);
}
