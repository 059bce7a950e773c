import { execFile } from 'node:child_process';
import { LOAD_CORE, pinned } from '../pinned-process.js';

const DEADLINE_MS = 120_000;
const OUTPUT_BYTES = 1 << 24;

/** Runs a load generator on the core for loads to its end; answers what it printed. */
export function runProgram(command: readonly string[]): Promise<string> {
  const options = { timeout: DEADLINE_MS, maxBuffer: OUTPUT_BYTES };
  return new Promise((resolve, reject) => {
    const [first, ...rest] = pinned(LOAD_CORE, command);
    execFile(first, rest, options, (error, out, problems) => {
      if (error) reject(new Error(`${command.join(' ')}: ${problems}${out}`, { cause: error }));
      else resolve(out);
    });
  });
}
