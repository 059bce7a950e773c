import { wrk } from '../load/wrk.js';
import { lanes, type Lane, type Scenario } from '../scenario.js';

const hit =
  (path: string): Lane['load'] =>
  ({ http }, seconds) =>
    wrk({ url: `http://127.0.0.1:${http}/c${path}`, connections: 64, seconds });

export const cacheHits: readonly Scenario[] = [
  {
    name: 'hit-1k',
    title: 'memory-cache hit 1 KB, 64 connections',
    measure: 'cpu',
    traffic: 'http',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'varnish'], hit('/1k')),
    targets: [
      { against: 'nginx', must: 1.5, stretch: 1.8 },
      { against: 'haproxy', must: 1.9 },
      { against: 'varnish', must: 2.2 },
    ],
  },
  {
    name: 'hit-100k',
    title: 'memory-cache hit 100 KB, 64 connections',
    measure: 'cpu',
    traffic: 'http',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'varnish'], hit('/100k')),
    targets: [
      { against: 'nginx', must: 0.9, stretch: 0.95 },
      { against: 'varnish', must: 1.25 },
    ],
  },
];
