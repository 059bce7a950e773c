import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { BUILD } from '../paths.js';
import type { LoadResult } from './load-result.js';
import { runProgram } from './run-program.js';

export interface H2loadOptions {
  readonly url: string;
  readonly connections: number;
  readonly streams: number;
  readonly seconds: number;
  readonly headers?: readonly string[];
  /** File with the body of the requests. */
  readonly body?: string;
}

const LATENCY_LOG = path.join(BUILD, 'h2load.log');
/** Latencies are those of the last requests: the file has a line for each. */
const SAMPLES = 200_000;

/** HTTP/2, closed loop, one thread. */
export async function h2load(options: H2loadOptions): Promise<LoadResult> {
  const { url, connections, streams, seconds, headers = [], body } = options;
  rmSync(LATENCY_LOG, { force: true });
  const output = await runProgram([
    ...['h2load', '-t1', `-c${connections}`, `-m${streams}`, `-D${seconds}`, `--log-file=${LATENCY_LOG}`],
    ...headers.flatMap((header) => ['-H', header]),
    ...(body === undefined ? [] : ['-d', body]),
    url,
  ]);
  const rate = /finished in [\d.]+m?s, ([\d.]+) req\/s/.exec(output)?.[1];
  const counts = /(\d+) succeeded, (\d+) failed/.exec(output);
  if (rate === undefined || !counts) throw new Error(`h2load printed no result:\n${output}`);
  const statuses = /status codes: (\d+) 2xx/.exec(output)?.[1];
  const succeeded = Number(statuses ?? counts[1]);
  return {
    count: succeeded,
    failed: Number(counts[2]) + Math.max(0, Number(counts[1]) - succeeded),
    perSecond: Number(rate),
    ...latencies(),
  };
}

/** A line: time of the start, status, latency, all numbers in µs. */
function latencies(): { readonly p50: number; readonly p99: number } {
  const lines = readFileSync(LATENCY_LOG, 'utf8').split('\n').slice(-SAMPLES);
  const micros = lines
    .map((line) => Number(line.split('\t')[2]))
    .filter((value) => !Number.isNaN(value))
    .sort((a, b) => a - b);
  const at = (share: number): number => micros[Math.floor(micros.length * share)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
