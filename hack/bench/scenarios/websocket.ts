import { echoLoad } from '../load/native.js';
import { lanes, type Scenario } from '../scenario.js';

export const websocket: Scenario = {
  name: 'websocket',
  title: 'WebSocket round trips of 1 KB, 64 connections',
  measure: 'cpu',
  traffic: 'http',
  lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], ({ http }, seconds) =>
    echoLoad(http, 64, seconds),
  ),
  // The relay of TCP is held to this; a WebSocket after its upgrade is the same.
  targets: [{ against: 'nginx', must: 0.85, stretch: 1 }],
};
