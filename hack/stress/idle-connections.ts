import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Contender } from '../bench/contenders/contender.js';
import { openLoop } from '../bench/load/native.js';
import { residentBytes } from '../bench/process-meter.js';
import { reportLine } from './report-line.js';

const CONNECTIONS = 10_000;
const AT_ONCE = 100;
const LIMIT_KB = 4;
const REQUEST = 'GET /1k HTTP/1.1\r\nHost: soak.test\r\n\r\n';
const SETTLE_MS = 1_000;

/** Memory of clients that have asked once and keep their connection. */
export async function idleConnections({ origin, http, process }: Contender): Promise<boolean> {
  // The heap that any traffic makes the process take is not theirs.
  await openLoop({ origin, port: http, path: '/1k', connections: AT_ONCE, rate: 4_000, seconds: 5 });
  await wait(SETTLE_MS);
  const before = residentBytes(process.pid);
  const sockets = await openMany(http, CONNECTIONS);
  await wait(SETTLE_MS);
  const each = (residentBytes(process.pid) - before) / CONNECTIONS / 1024;
  for (const socket of sockets) socket.destroy();
  await wait(SETTLE_MS);
  return reportLine(`${CONNECTIONS} idle connections, each`, each, 'KB', LIMIT_KB);
}

async function openMany(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    sockets.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => askOnce(port)))));
  }
  return sockets;
}

async function askOnce(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(REQUEST);
  await once(socket, 'data');
  return socket;
}
