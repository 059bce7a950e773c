import path from 'node:path';
import { BINARIES } from '../paths.js';
import type { LoadResult } from './load-result.js';
import { runProgram } from './run-program.js';

export interface OpenLoopOptions {
  /** Port of the origin, which is asked for it: one program is both, and neither waits for the other. */
  readonly origin: number;
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** Requests in a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** HTTP/1.1 at a fixed rate; latency counts from the time a request was due. Throws when it could not begin. */
export async function openLoop(options: OpenLoopOptions): Promise<LoadResult> {
  const { origin, port, connections, rate, seconds } = options;
  const load = [port, connections, rate, seconds].join('/');
  const response = await fetch(`http://127.0.0.1:${origin}/open-loop/${load}${options.path}`);
  const report = await response.text();
  if (report === '') throw new Error(`the open loop of the origin could not begin: ${load}${options.path}`);
  // Our own programs print exactly this.
  return JSON.parse(report) as LoadResult;
}

/** WebSocket round trips of 1 KiB, one at a time on each connection. */
export async function echoLoad(port: number, connections: number, seconds: number): Promise<LoadResult> {
  const command = [path.join(BINARIES, 'echo-load'), String(port), String(connections), String(seconds)];
  return JSON.parse(await runProgram(command)) as LoadResult;
}
