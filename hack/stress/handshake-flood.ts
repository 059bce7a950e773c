import { connect } from 'node:tls';
import type { Contender } from '../bench/contenders/contender.js';
import { openLoop } from '../bench/load/native.js';
import { reportLine } from './report-line.js';

const RATE = 2_000;
const SECONDS = 5;
const CLIENTS = 32;

/** What established connections feel of clients that do nothing but full handshakes. */
export async function handshakeFlood({ origin, http, https }: Contender): Promise<boolean> {
  const load = { origin, port: http, path: '/1k', connections: 32, rate: RATE, seconds: SECONDS };
  const quiet = await openLoop(load);
  let isOver = false;
  let handshakes = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      await handshake(https);
      handshakes++;
    }
  });
  const flooded = await openLoop(load);
  isOver = true;
  await Promise.all(clients);
  reportLine('p99 of established connections, quiet', (quiet.p99 ?? NaN) / 1000, 'ms');
  reportLine('handshakes in the flood', handshakes / SECONDS, '/s');
  return reportLine('p99 of established connections, flooded', (flooded.p99 ?? NaN) / 1000, 'ms');
}

function handshake(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve();
    });
  });
}
