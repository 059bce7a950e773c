import { wrk } from '../load/wrk.js';
import { lanes, type Scenario } from '../scenario.js';

export const tlsKeepAlive: Scenario = {
  name: 'tls-1k',
  title: 'TLS 1 KB keep-alive, 64 connections',
  measure: 'cpu',
  traffic: 'http',
  lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], ({ https }, seconds) =>
    wrk({ url: `https://127.0.0.1:${https}/1k`, connections: 64, seconds }),
  ),
  targets: [
    { against: 'nginx', must: 1.05, stretch: 1.2 },
    { against: 'envoy', must: 2.2 },
  ],
};
