/**
 * `make soak`: the product as shipped for a long time. Idle connections, slow peers and a flood of handshakes first,
 * then MINUTES (30) of churn. Exit status 1 when a byte was wrong or memory grew.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeCertificate } from '../bench/bench-certificate.js';
import type { Setup } from '../bench/contenders/contender.js';
import { startTrickster } from '../bench/contenders/trickster.js';
import { freePorts } from '../../test/support/free-ports.js';
import { BINARIES, BUILD } from '../bench/paths.js';
import { LOAD_CORE, PinnedProcess, stopAll } from '../bench/pinned-process.js';
import { ensurePrograms } from '../bench/prerequisites.js';
import { churn } from './churn.js';
import { deafBackend } from './deaf-backend.js';
import { handshakeFlood } from './handshake-flood.js';
import { idleConnections } from './idle-connections.js';
import { slowPeers } from './slow-peers.js';

async function main(): Promise<boolean> {
  const minutes = Number(process.env['MINUTES'] ?? 30);
  const seed = Number(process.env['SEED'] ?? 1);
  ensurePrograms(new Set());
  mkdirSync(BUILD, { recursive: true });
  const directory = mkdtempSync(path.join(BUILD, 'soak-'));
  const [port = 0] = await freePorts(1);
  const command = [path.join(BINARIES, 'origin'), String(port)];
  const origin = await PinnedProcess.start({ name: 'origin', core: LOAD_CORE, command, port });
  const certificate = makeCertificate(directory);
  const setup: Setup = { directory, origin: port, traffic: 'http', certificate, hosts: 0 };
  const trickster = await startTrickster(setup);
  const results = [
    await idleConnections(trickster),
    await slowPeers(trickster),
    await handshakeFlood(trickster),
  ];
  await trickster.process.stop();
  await origin.stop();
  results.push(await deafBackend(setup));
  results.push(await churn(setup, minutes, seed));
  rmSync(directory, { recursive: true });
  return results.every(Boolean);
}

try {
  if (!(await main())) process.exitCode = 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stopAll();
}
