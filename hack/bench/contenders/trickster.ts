import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { freePorts } from '../../../test/support/free-ports.js';
import { ROOT } from '../paths.js';
import { PinnedProcess, PROXY_CORE } from '../pinned-process.js';
import { changingRoute, gatewayObjects, grpcRoute, hostRoutes, httpRoutes } from './bench-objects.js';
import type { Contender, Setup } from './contender.js';

const START_DEADLINE_MS = 60_000;

/**
 * The product as shipped: built, started by its own command, configured by files, metrics on, access log off. One
 * worker, as its peers. `WIRE=net` or `WIRE=handle` forces a wire, `CPU_PROFILE=DIRECTORY` makes Node profile it.
 */
export function startTrickster(setup: Setup): Promise<Contender> {
  return start('trickster', path.join(ROOT, 'dist'), setup);
}

/** Another build of the product: what `npm run build` made, in the directory that `BASELINE` names. */
export function startBaseline(setup: Setup): Promise<Contender> {
  return start('baseline', path.resolve(process.env['BASELINE'] ?? ''), setup);
}

async function start(name: 'trickster' | 'baseline', build: string, setup: Setup): Promise<Contender> {
  const [http = 0, https = 0, management = 0, metrics = 0] = await freePorts(4);
  const wire = process.env['WIRE'] ?? 'handle';
  const source = path.join(setup.directory, 'source');
  const configuration = path.join(setup.directory, 'trickster.yaml');
  mkdirSync(source, { recursive: true });
  writeFileSync(
    configuration,
    stringify({
      kubernetes: { defaults: { addressing: 'pool' } },
      engine: { workers: 1, wire },
      mgmt: { listen_port: management },
      metrics: { listen_address: '127.0.0.1', listen_port: metrics },
      logging: { log_level: 'warn' },
    }),
  );
  write(source, 'gateway.yaml', gatewayObjects({ http, https, ...setup }));
  write(source, 'routes.yaml', setup.traffic === 'grpc' ? grpcRoute() : httpRoutes());
  if (setup.hosts > 0) write(source, 'hosts.yaml', hostRoutes(setup.hosts));
  const main = path.join(build, 'src/main.js');
  const child = await PinnedProcess.start({
    name,
    core: PROXY_CORE,
    command: [process.execPath, ...profiling(), main, 'run', '--config', configuration, '--source', source],
    port: http,
    deadlineMs: START_DEADLINE_MS,
  });
  return {
    name,
    wire,
    origin: setup.origin,
    http,
    https,
    metrics,
    process: child,
    change: (revision) => {
      write(source, 'changing.yaml', [changingRoute(revision)]);
    },
    rotate: (certificate) => {
      write(source, 'gateway.yaml', gatewayObjects({ http, https, ...setup, certificate }));
    },
  };
}

function profiling(): readonly string[] {
  const directory = process.env['CPU_PROFILE'];
  return directory === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', directory];
}

function write(directory: string, name: string, objects: readonly object[]): void {
  const file = path.join(directory, name);
  writeFileSync(`${file}.part`, objects.map((object) => stringify(object)).join('---\n'));
  renameSync(`${file}.part`, file);
}
