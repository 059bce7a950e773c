import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Setup } from '../bench/contenders/contender.js';
import { startTrickster } from '../bench/contenders/trickster.js';
import { residentBytes } from '../bench/process-meter.js';
import { reportLine } from './report-line.js';

const CLIENTS = 100;
const UPLOAD_BYTES = 8_000_000;
/** Two read buffers of 64 KiB, and the first part of the body that a retry would need. */
const LIMIT_KB = 384;
const SETTLE_MS = 3_000;

/** A backend that accepts and never reads: uploads to it must not pile up in the gateway. */
export async function deafBackend(setup: Setup): Promise<boolean> {
  const held = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => held.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on TCP, so its address is of this kind.
  const { port } = server.address() as AddressInfo;
  const { process, http } = await startTrickster({ ...setup, origin: port });
  const before = residentBytes(process.pid);
  const head = `POST /1k HTTP/1.1\r\nHost: soak.test\r\nContent-Length: ${UPLOAD_BYTES}\r\n\r\n`;
  const body = Buffer.alloc(UPLOAD_BYTES);
  for (let index = 0; index < CLIENTS; index++) {
    const socket = connect(http, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(head);
    socket.write(body);
    held.add(socket);
  }
  await wait(SETTLE_MS);
  const each = (residentBytes(process.pid) - before) / CLIENTS / 1024;
  for (const socket of held) socket.destroy();
  server.close();
  await process.stop();
  return reportLine(`${CLIENTS} uploads to a backend that does not read, each`, each, 'KB', LIMIT_KB);
}
