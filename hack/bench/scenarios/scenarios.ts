import type { Scenario } from '../scenario.js';
import { cacheHits } from './cache-hits.js';
import { filters } from './filters.js';
import { grpcUnary } from './grpc-unary.js';
import { h1Bodies } from './h1-bodies.js';
import { hosts10k } from './hosts-10k.js';
import { http2 } from './http2.js';
import { latency } from './latency.js';
import { newConnection } from './new-connection.js';
import { tlsHandshakes } from './tls-handshakes.js';
import { tlsKeepAlive } from './tls.js';
import { websocket } from './websocket.js';

/** In the order of the report. */
export const SCENARIOS: readonly Scenario[] = [
  ...h1Bodies,
  newConnection,
  ...cacheHits,
  tlsKeepAlive,
  ...tlsHandshakes,
  ...http2,
  grpcUnary,
  hosts10k,
  websocket,
  ...latency,
  filters,
];
