import type { LoadResult } from './load-result.js';
import { runProgram } from './run-program.js';

export interface WrkOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** `Name: value`, beside those that a browser sends. */
  readonly headers?: readonly string[];
  /** File of a Lua script that makes the requests. */
  readonly script?: string;
}

const HEADERS = [
  'Host: bench.test',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) bench',
  'Accept: */*',
  'Accept-Encoding: gzip, deflate',
  'Accept-Language: en-US,en;q=0.5',
];

/** HTTP/1.1, closed loop, one thread. */
export async function wrk({ url, connections, seconds, headers, script }: WrkOptions): Promise<LoadResult> {
  const output = await runProgram([
    ...['wrk', '-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--latency'],
    ...[...(script === undefined ? HEADERS : []), ...(headers ?? [])].flatMap((header) => ['-H', header]),
    ...(script === undefined ? [] : ['-s', script]),
    url,
  ]);
  const count = numberIn(output, /(\d+) requests in/);
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output);
  const failed =
    numberIn(output, /Non-2xx or 3xx responses: (\d+)/, 0) +
    (socketErrors?.slice(1).reduce((sum, each) => sum + Number(each), 0) ?? 0);
  return {
    count,
    failed,
    perSecond: numberIn(output, /Requests\/sec:\s+([\d.]+)/),
    p50: percentile(output, 50),
    p99: percentile(output, 99),
  };
}

function percentile(output: string, rank: number): number {
  const [, digits, unit] = new RegExp(`^\\s+${rank}%\\s+([\\d.]+)(us|ms|s)`, 'm').exec(output) ?? [];
  const micros = unit === 's' ? 1e6 : unit === 'ms' ? 1e3 : 1;
  return Math.round(Number(digits) * micros);
}

function numberIn(output: string, pattern: RegExp, fallback?: number): number {
  const digits = pattern.exec(output)?.[1];
  if (digits !== undefined) return Number(digits);
  if (fallback === undefined) throw new Error(`wrk printed no result:\n${output}`);
  return fallback;
}
