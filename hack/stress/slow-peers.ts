import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Contender } from '../bench/contenders/contender.js';
import { residentBytes } from '../bench/process-meter.js';
import { reportLine } from './report-line.js';

const PEERS = 200;
/** A read buffer of 64 KiB and what the event loop and the exchange need. */
const LIMIT_KB = 256;
const SETTLE_MS = 1_500;

/** Clients that ask for 10 MB and read nothing, send a body byte by byte, or close their half and stay. */
export async function slowPeers(contender: Contender): Promise<boolean> {
  const { http, process } = contender;
  const kinds: readonly (readonly [name: string, request: string, after: (socket: Socket) => void])[] = [
    ['clients that do not read', 'GET /10m HTTP/1.1\r\nHost: soak.test\r\n\r\n', (socket) => socket.pause()],
    [
      'clients that send slowly',
      'POST /1k HTTP/1.1\r\nHost: soak.test\r\nContent-Length: 1000000\r\n\r\n',
      (socket) => socket.write('x'),
    ],
    [
      'half-closed clients',
      'GET /10m HTTP/1.1\r\nHost: soak.test\r\n\r\n',
      (socket) => {
        socket.pause();
        socket.end();
      },
    ],
  ];
  let isFine = true;
  for (const [name, request, after] of kinds) {
    const before = residentBytes(process.pid);
    const sockets = await Promise.all(Array.from({ length: PEERS }, () => begin(http, request, after)));
    await wait(SETTLE_MS);
    const first = residentBytes(process.pid);
    await wait(SETTLE_MS);
    const each = (residentBytes(process.pid) - before) / PEERS / 1024;
    isFine = reportLine(`${PEERS} ${name}, each`, each, 'KB', LIMIT_KB) && isFine;
    const growth = (residentBytes(process.pid) - first) / PEERS / 1024;
    isFine = reportLine(`${PEERS} ${name}, growth of each`, growth, 'KB', LIMIT_KB / 4) && isFine;
    for (const socket of sockets) socket.destroy();
    await wait(SETTLE_MS);
  }
  return isFine;
}

async function begin(port: number, request: string, after: (socket: Socket) => void): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  after(socket);
  return socket;
}
