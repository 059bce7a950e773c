import { h2load } from '../load/h2load.js';
import { lanes, type Lane, type Scenario } from '../scenario.js';

const multiplexed =
  (path: string): Lane['load'] =>
  ({ https }, seconds) =>
    h2load({ url: `https://127.0.0.1:${https}${path}`, connections: 8, streams: 32, seconds });

export const http2: readonly Scenario[] = [
  {
    name: 'h2-1k',
    title: 'h2-TLS → h1 1 KB, 8 connections × 32 streams',
    measure: 'cpu',
    traffic: 'http',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], multiplexed('/1k')),
    targets: [
      { against: 'nginx', must: 1.4, stretch: 1.6 },
      { against: 'haproxy', must: 1 },
      { against: 'envoy', must: 3.5 },
    ],
  },
  {
    name: 'h2-hit',
    title: 'h2 cache hit 1 KB, 8 connections × 32 streams',
    measure: 'cpu',
    traffic: 'http',
    lanes: lanes(['trickster', 'nginx', 'haproxy'], multiplexed('/c/1k')),
    targets: [{ against: 'nginx', must: 3.5, stretch: 5 }],
  },
];
