import { setTimeout as wait } from 'node:timers/promises';
import type { Contender, ContenderName } from '../contenders/contender.js';
import { openLoop } from '../load/native.js';
import type { LoadResult } from '../load/load-result.js';
import { wrk } from '../load/wrk.js';
import { lanes, type Scenario } from '../scenario.js';

const CONNECTIONS = 64;
const SHARE = 0.4;
const CHANGE_EVERY_MS = 100;
const WARM_SECONDS = 10;

/** Forty percent of what nginx does when it is asked for all it can. */
class OfferedRate {
  #rate = 0;

  /** Asks everybody for all they can: at forty percent, what is compiled while it runs would take minutes to be so. */
  async find(contenders: ReadonlyMap<ContenderName, Contender>): Promise<void> {
    for (const { name, http } of contenders.values()) {
      const url = `http://127.0.0.1:${http}/1k`;
      const { perSecond } = await wrk({ url, connections: CONNECTIONS, seconds: WARM_SECONDS });
      if (name === 'nginx') this.#rate = Math.round((perSecond * SHARE) / 100) * 100;
    }
    if (this.#rate === 0) throw new Error('the rate is found with nginx, which is not among the contenders');
    console.log(`  offered: ${this.#rate} requests/s`);
  }

  load({ http, origin }: Contender, seconds: number): Promise<LoadResult> {
    return openLoop({ origin, port: http, path: '/1k', connections: CONNECTIONS, rate: this.#rate, seconds });
  }
}

/** The load of a lane while the contender's configuration changes ten times a second. */
async function whileChanging(contender: Contender, load: Promise<LoadResult>): Promise<LoadResult> {
  const ended = new AbortController();
  const changes = (async () => {
    while (!ended.signal.aborted) {
      contender.change?.(revision++);
      await wait(CHANGE_EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  try {
    return await load;
  } finally {
    ended.abort();
    await changes;
  }
}
let revision = 1;

const steady = new OfferedRate();
const changing = new OfferedRate();
const common = { measure: 'p99', traffic: 'http' } as const;

export const latency: readonly Scenario[] = [
  {
    ...common,
    name: 'latency-40',
    title: 'p99 at 40 % load, open loop, 1 KB',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], (contender, seconds) =>
      steady.load(contender, seconds),
    ),
    targets: [{ against: 'nginx', must: 1.1, stretch: 1 }],
    prepare: (contenders) => steady.find(contenders),
  },
  {
    ...common,
    name: 'latency-40-churn',
    title: 'the same while the configuration changes ten times a second',
    lanes: [
      ...lanes(['trickster', 'nginx'], (contender, seconds) =>
        whileChanging(contender, changing.load(contender, seconds)),
      ),
      {
        name: 'nginx, unchanged',
        contender: 'nginx',
        load: (contender, seconds) => changing.load(contender, seconds),
      },
    ],
    targets: [{ against: 'nginx', must: 1.1, stretch: 1 }],
    prepare: (contenders) => changing.find(contenders),
  },
];
