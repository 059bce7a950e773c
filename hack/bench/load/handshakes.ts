import type { LoadResult } from './load-result.js';
import { runProgram } from './run-program.js';

/**
 * TLS handshakes one after the other. `full`: TLS 1.3. `resumed`: TLS 1.2 with a session ticket, because the tool
 * does not wait for the tickets of TLS 1.3.
 */
export async function handshakes(
  kind: 'full' | 'resumed',
  port: number,
  seconds: number,
): Promise<LoadResult> {
  const flags = kind === 'full' ? ['-new', '-tls1_3'] : ['-reuse', '-tls1_2'];
  const output = await runProgram([
    ...['openssl', 's_time', '-connect', `127.0.0.1:${port}`, '-time', String(seconds)],
    ...flags,
  ]);
  const [, count, elapsed] = /(\d+) connections in (\d+) real seconds/.exec(output) ?? [];
  if (count === undefined || elapsed === undefined) throw new Error(`s_time printed no result:\n${output}`);
  return { count: Number(count), failed: 0, perSecond: Number(count) / seconds };
}
