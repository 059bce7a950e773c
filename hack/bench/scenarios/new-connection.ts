import { wrk } from '../load/wrk.js';
import { lanes, type Scenario } from '../scenario.js';

export const newConnection: Scenario = {
  name: 'new-connection',
  title: 'new TCP connection per request, 1 KB, 64 at a time',
  measure: 'cpu',
  traffic: 'http',
  lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], ({ http }, seconds) =>
    wrk({ url: `http://127.0.0.1:${http}/1k`, connections: 64, seconds, headers: ['Connection: close'] }),
  ),
  targets: [{ against: 'nginx', must: 0.75, stretch: 0.85 }],
};
