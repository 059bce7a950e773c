import { wrk } from '../load/wrk.js';
import { lanes, type Lane, type Scenario } from '../scenario.js';

const proxied =
  (path: string, connections: number): Lane['load'] =>
  ({ http }, seconds) =>
    wrk({ url: `http://127.0.0.1:${http}${path}`, connections, seconds });

const common = { measure: 'cpu', traffic: 'http' } as const;

export const h1Bodies: readonly Scenario[] = [
  {
    ...common,
    name: 'h1-1k',
    title: '1 KB h1→h1 keep-alive, 64 connections',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], proxied('/1k', 64)),
    targets: [
      { against: 'nginx', must: 0.9, stretch: 1 },
      { against: 'haproxy', must: 0.9, stretch: 1 },
      { against: 'envoy', must: 2.5 },
    ],
  },
  {
    ...common,
    name: 'h1-100k',
    title: '100 KB h1→h1, 64 connections',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], proxied('/100k', 64)),
    targets: [{ against: 'nginx', must: 0.95, stretch: 1.05 }],
  },
  {
    ...common,
    name: 'h1-10m',
    title: '10 MB h1→h1, 8 connections',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], proxied('/10m', 8)),
    targets: [{ against: 'nginx', must: 0.85, stretch: 1.05 }],
  },
];
