import path from 'node:path';
import { BINARIES } from '../paths.js';
import type { LoadResult } from './load-result.js';
import { runProgram } from './run-program.js';

export interface OpenLoopOptions {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** Requests in a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** HTTP/1.1 at a fixed rate; latency counts from the time a request was due. */
export function openLoop({
  port,
  path: target,
  connections,
  rate,
  seconds,
}: OpenLoopOptions): Promise<LoadResult> {
  return run('open-loop', [String(port), target, String(connections), String(rate), String(seconds)]);
}

/** WebSocket round trips of 1 KiB, one at a time on each connection. */
export function echoLoad(port: number, connections: number, seconds: number): Promise<LoadResult> {
  return run('echo-load', [String(port), String(connections), String(seconds)]);
}

async function run(program: string, args: readonly string[]): Promise<LoadResult> {
  // Our own programs print exactly this.
  return JSON.parse(await runProgram([path.join(BINARIES, program), ...args])) as LoadResult;
}
