/**
 * Runs every check that needs no cluster and ends with one line, `N passed, N failed`: each check counts as one,
 * and mocha's tests one each. A check that fails does not stop the others.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';

const CHECKS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['lint', ['eslint', '.']],
  ['format', ['prettier', '--check', '--log-level', 'warn', '.']],
  ['types', ['tsc', '--noEmit', '-p', 'tsconfig.json']],
  [
    'boundaries',
    ['depcruise', 'src', 'controllers', '--config', '.dependency-cruiser.cjs', '--output-type', 'err'],
  ],
  ['dead code', ['knip']],
];
const COUNTS_FILE = 'build/test/counts.json';

function run(
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): { ok: boolean; seconds: number } {
  const started = performance.now();
  const { status } = spawnSync('npx', ['--no-install', ...command], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return { ok: status === 0, seconds: (performance.now() - started) / 1000 };
}

function report(name: string, { ok, seconds }: { ok: boolean; seconds: number }): void {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
}

function readCounts(): { passes: number; failures: number; pending: number } {
  // Written by our own reporter; when it is missing mocha did not get to the end.
  if (!existsSync(COUNTS_FILE)) return { passes: 0, failures: 1, pending: 0 };
  return JSON.parse(readFileSync(COUNTS_FILE, 'utf8')) as {
    passes: number;
    failures: number;
    pending: number;
  };
}

let passed = 0;
let failed = 0;
for (const [name, command] of CHECKS) {
  const result = run(command);
  report(name, result);
  if (result.ok) passed += 1;
  else failed += 1;
}

mkdirSync('build/test', { recursive: true });
rmSync(COUNTS_FILE, { force: true });
const tests = run(
  [
    'c8',
    'mocha',
    '--forbid-only',
    '--forbid-pending',
    '--reporter',
    'hack/counting-reporter.cjs',
    'test/{unit,golden,integration,conformance,e2e}/**/*.test.ts',
  ],
  { COUNTS_FILE },
);
const counts = readCounts();
passed += counts.passes;
failed += counts.failures + counts.pending;
report('tests and coverage', tests);
// The tests may all pass and the coverage still be too low.
if (!tests.ok && counts.failures + counts.pending === 0) failed += 1;

console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 ? 0 : 1;
