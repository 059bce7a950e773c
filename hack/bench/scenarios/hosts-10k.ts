import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PREFIXES, type Contender } from '../contenders/contender.js';
import { wrk } from '../load/wrk.js';
import { BUILD } from '../paths.js';
import { lanes, type Fact, type Scenario } from '../scenario.js';
import { residentBytes } from '../process-meter.js';

const HOSTS = 10_000;
const SCRIPT = path.join(BUILD, 'hosts.lua');
const SWAP_DEADLINE_MS = 30_000;
/** The first ones run code that is not compiled yet: what counts is their median, and the first one is told as well. */
const SWAPS = 20;

/** Every request for another host and prefix. */
export const hosts10k: Scenario = {
  name: 'hosts-10k',
  title: '10,000 hosts × 5 prefixes, 1 KB, 64 connections',
  measure: 'cpu',
  traffic: 'http',
  hosts: HOSTS,
  lanes: lanes(['trickster', 'nginx', 'haproxy'], ({ http }, seconds) =>
    wrk({ url: `http://127.0.0.1:${http}`, connections: 64, seconds, script: SCRIPT }),
  ),
  targets: [{ against: 'nginx', must: 1.1, stretch: 1.2 }],
  prepare: () => {
    mkdirSync(BUILD, { recursive: true });
    const prefixes = PREFIXES.map((prefix) => `"${prefix}"`).join(', ');
    writeFileSync(
      SCRIPT,
      `local prefixes = { ${prefixes} }
request = function()
  local host = "h" .. math.random(0, ${HOSTS - 1}) .. ".bench.test"
  return wrk.format("GET", prefixes[math.random(#prefixes)] .. "/1k", { ["Host"] = host })
end
`,
    );
    return Promise.resolve();
  },
  inspect: async (contenders) => {
    const trickster = contenders.get('trickster');
    if (!trickster) return [];
    const resident = residentBytes(trickster.process.pid);
    const heaps = await heapsOf(trickster);
    const swaps: number[] = [];
    for (let i = 1; i <= SWAPS; i++) swaps.push(await swapMs(trickster, i));
    const [first = NaN] = swaps;
    const median = swaps.sort((a, b) => a - b)[SWAPS >> 1] ?? NaN;
    return [
      { name: 'one change served after, median of 20', value: Math.round(median), unit: 'ms', limit: 200 },
      { name: 'the first of them', value: Math.round(first), unit: 'ms' },
      megabytes('resident, control plane included', resident, 100),
      megabytes('objects of the control plane, in use', heaps.main),
      megabytes('objects of the data plane, in use', heaps.worker),
    ];
  },
};

function megabytes(name: string, bytes: number, limit?: number): Fact {
  return { name, value: Math.round(bytes / 1e6), unit: 'MB', ...(limit !== undefined && { limit }) };
}

/** Heaps of the threads, garbage included. The rest of what is resident is code, buffers and the runtime. */
async function heapsOf({ metrics = 0 }: Contender): Promise<{ main: number; worker: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const gauge = (name: string): number => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? NaN);
  return {
    main: gauge('nodejs_heap_size_used_bytes'),
    worker: gauge('trickster_engine_worker_heap_used_bytes'),
  };
}

/** From the write of a file to the first answer that follows it. */
async function swapMs(contender: Contender, revision: number): Promise<number> {
  contender.change?.(revision);
  const started = performance.now();
  while (!(await serves(contender.http, revision))) {
    if (performance.now() - started > SWAP_DEADLINE_MS) return SWAP_DEADLINE_MS;
    await wait(5);
  }
  return performance.now() - started;
}

/** The route for every host answers as well: only the header tells that it was the changed one. */
function serves(port: number, revision: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'changing.bench.test' };
    const target = `/revision-${revision}/1k`;
    request({ port, host: '127.0.0.1', path: target, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 && response.headers['x-revision'] === String(revision));
    })
      .on('error', reject)
      .end();
  });
}
