import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from '../e2e/runner/cluster.js';

/** The suite's profiles for gateways, by the feature that a product must have for them. */
const profileByFeature: ReadonlyMap<string, string> = new Map([
  ['HTTPRoute', 'GATEWAY-HTTP'],
  ['GRPCRoute', 'GATEWAY-GRPC'],
  ['TLSRoute', 'GATEWAY-TLS'],
  ['TCPRoute', 'GATEWAY-TCP'],
  ['UDPRoute', 'GATEWAY-UDP'],
]);
const allProfiles = [...profileByFeature.values()];

/** What the environment asks for; see README.md. */
export interface Settings {
  /** Undefined: what the product says it supports. */
  readonly profiles: readonly string[] | undefined;
  /** Tests to run; empty for all. */
  readonly tests: readonly string[];
  /** How many parallel tests at a time; undefined leaves it to the suite. */
  readonly parallel: number | undefined;
  /** Run the product from the source tree instead of deploying it. */
  readonly local: boolean;
  readonly folder: string;
}

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const profiles = list(env['PROFILES']).map((p) => (p.startsWith('GATEWAY-') ? p : `GATEWAY-${p}`));
  const unknown = profiles.filter((p) => !allProfiles.includes(p));
  if (unknown.length > 0)
    throw new Error(`unknown profiles ${unknown.join(', ')}; known: ${allProfiles.join(', ')}`);
  const parallel = env['PARALLEL'] ? Number(env['PARALLEL']) : undefined;
  if (parallel !== undefined && !(Number.isInteger(parallel) && parallel > 0)) {
    throw new Error('PARALLEL is not a positive number');
  }
  return {
    profiles: profiles.length > 0 ? profiles : undefined,
    tests: list(env['RUN_TEST']),
    parallel,
    local: ['1', 'true'].includes(env['LOCAL'] ?? ''),
    folder: join(repository, 'build', 'conformance'),
  };
}

/** The profiles of a GatewayClass with these `status.supportedFeatures`. */
export function profilesFor(features: readonly string[]): string[] {
  return [...profileByFeature]
    .filter(([feature]) => features.includes(feature))
    .map(([, profile]) => profile);
}

function list(value: string | undefined): string[] {
  return (value ?? '').split(/[\s,]+/).filter((word) => word !== '');
}

/** The suite's flags that name who is tested, from package.json. */
export async function identityFlags(): Promise<string[]> {
  const text = await readFile(join(repository, 'package.json'), 'utf8');
  const manifest = JSON.parse(text) as Record<string, unknown>;
  const word = (value: unknown, fallback: string): string =>
    typeof value === 'string' && value !== '' ? value : fallback;
  const name = word(manifest['name'], 'trickster-gateway');
  const homepage = word(manifest['homepage'], `https://trickstercache.org/${name}`);
  return [
    `--organization=${word(manifest['organization'], 'trickstercache')}`,
    `--project=${name}`,
    `--url=${homepage}`,
    `--version=v${word(manifest['version'], '0.0.0')}`,
    `--contact=${word(bugs(manifest['bugs']), homepage)}`,
  ];
}

function bugs(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'url' in value ? value.url : value;
}
