import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeCertificate } from './bench-certificate.js';
import type { Contender, ContenderName, Setup } from './contenders/contender.js';
import { CONTENDERS } from './contenders/contenders.js';
import { freePorts } from '../../test/support/free-ports.js';
import type { LoadResult } from './load/load-result.js';
import { BINARIES, BUILD } from './paths.js';
import { LOAD_CORE, PinnedProcess } from './pinned-process.js';
import { cpuMicros, residentBytes } from './process-meter.js';
import type { Fact, Lane, Scenario } from './scenario.js';
import { spreadOf, type Spread } from './spread.js';

export interface Result {
  readonly scenario: string;
  readonly contender: string;
  readonly wire: string | null;
  readonly requestsPerSecond: Spread;
  readonly cpuMicrosPerRequest: Spread;
  readonly p50Micros: Spread | null;
  readonly p99Micros: Spread | null;
  readonly residentBytes: Spread;
  readonly rounds: number;
}

export interface Measured {
  readonly scenario: Scenario;
  readonly results: readonly Result[];
  readonly facts: readonly Fact[];
}

export interface Effort {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmSeconds: number;
}

interface Sample extends LoadResult {
  readonly cpuMicros: number;
  readonly residentBytes: number;
}

/**
 * Runs the lanes of a scenario by turns, each round in the reverse order of the one before, with everything up all
 * the time: what disturbs the machine for a while disturbs all of them.
 */
export async function measureScenario(scenario: Scenario, effort: Effort): Promise<Measured> {
  mkdirSync(BUILD, { recursive: true });
  const directory = mkdtempSync(path.join(BUILD, 'run-'));
  // Varnish reads its configuration as another user.
  chmodSync(directory, 0o755);
  const origin = await startOrigin(scenario);
  const contenders = new Map<ContenderName, Contender>();
  const certificate = makeCertificate(directory);
  const { traffic, hosts = 0 } = scenario;
  for (const name of new Set(scenario.lanes.map(({ contender }) => contender))) {
    const own = path.join(directory, name);
    mkdirSync(own);
    const setup: Setup = { directory: own, origin: origin.port, traffic, certificate, hosts };
    contenders.set(name, await CONTENDERS[name](setup));
  }
  await scenario.prepare?.(contenders);
  const samples = await alternate(scenario.lanes, contenders, effort);
  const results = scenario.lanes.map((lane) => summarise(scenario, lane, contenders, samples));
  const facts = (await scenario.inspect?.(contenders)) ?? [];
  for (const { process } of contenders.values()) await process.stop();
  await origin.process.stop();
  rmSync(directory, { recursive: true });
  return { scenario, results, facts };
}

async function startOrigin({ traffic }: Scenario): Promise<{ port: number; process: PinnedProcess }> {
  const [port = 0] = await freePorts(1);
  const name = traffic === 'grpc' ? 'grpc-origin' : 'origin';
  const command = [path.join(BINARIES, name), String(port)];
  return { port, process: await PinnedProcess.start({ name, core: LOAD_CORE, command, port }) };
}

async function alternate(
  lanes: readonly Lane[],
  contenders: ReadonlyMap<ContenderName, Contender>,
  { rounds, seconds, warmSeconds }: Effort,
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map<string, Sample[]>(lanes.map(({ name }) => [name, []]));
  for (const lane of lanes) await lane.load(contenderOf(lane, contenders), warmSeconds);
  for (let round = 0; round < rounds; round++) {
    for (const lane of round % 2 === 0 ? lanes : [...lanes].reverse()) {
      const sample = await take(lane, contenderOf(lane, contenders), seconds);
      samples.get(lane.name)?.push(sample);
      const micros = (sample.cpuMicros / sample.count).toFixed(2);
      console.log(`  ${lane.name}: ${Math.round(sample.perSecond)}/s, ${micros} µs CPU each`);
    }
  }
  return samples;
}

async function take(lane: Lane, contender: Contender, seconds: number): Promise<Sample> {
  const { pid } = contender.process;
  const before = cpuMicros(pid);
  const result = await lane.load(contender, seconds);
  const used = cpuMicros(pid) - before;
  if (result.count === 0 || result.failed > result.count / 1000) {
    throw new Error(`${lane.name}: ${result.failed} failed, ${result.count} succeeded`);
  }
  return { ...result, cpuMicros: used, residentBytes: residentBytes(pid) };
}

function contenderOf(lane: Lane, contenders: ReadonlyMap<ContenderName, Contender>): Contender {
  const contender = contenders.get(lane.contender);
  if (!contender) throw new Error(`${lane.contender} was not started`);
  return contender;
}

function summarise(
  scenario: Scenario,
  lane: Lane,
  contenders: ReadonlyMap<ContenderName, Contender>,
  samples: ReadonlyMap<string, readonly Sample[]>,
): Result {
  const taken = samples.get(lane.name) ?? [];
  const latencies = (pick: (sample: Sample) => number | undefined): Spread | null => {
    const values = taken.map(pick).filter((value) => value !== undefined);
    return values.length === 0 ? null : spreadOf(values);
  };
  return {
    scenario: scenario.name,
    contender: lane.name,
    wire: contenderOf(lane, contenders).wire,
    requestsPerSecond: spreadOf(taken.map(({ perSecond }) => perSecond)),
    cpuMicrosPerRequest: spreadOf(taken.map(({ cpuMicros: micros, count }) => micros / count)),
    p50Micros: latencies(({ p50 }) => p50),
    p99Micros: latencies(({ p99 }) => p99),
    residentBytes: spreadOf(taken.map((sample) => sample.residentBytes)),
    rounds: taken.length,
  };
}
