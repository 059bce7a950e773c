import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { h2load } from '../load/h2load.js';
import { BUILD } from '../paths.js';
import { lanes, type Scenario } from '../scenario.js';

/** A message of 64 bytes behind its length. */
const MESSAGE = path.join(BUILD, 'grpc-message.bin');

export const grpcUnary: Scenario = {
  name: 'grpc-unary',
  title: 'gRPC unary h2c→h2c, 8 connections × 32 streams',
  measure: 'cpu',
  traffic: 'grpc',
  lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], ({ http }, seconds) =>
    h2load({
      url: `http://127.0.0.1:${http}/bench.Echo/Call`,
      connections: 8,
      streams: 32,
      seconds,
      headers: ['content-type: application/grpc', 'te: trailers', 'grpc-timeout: 1S'],
      body: MESSAGE,
    }),
  ),
  targets: [
    { against: 'nginx', must: 5, stretch: 8 },
    { against: 'haproxy', must: 1.5 },
  ],
  prepare: () => {
    mkdirSync(BUILD, { recursive: true });
    writeFileSync(MESSAGE, Buffer.concat([Buffer.of(0, 0, 0, 0, 64), Buffer.alloc(64, 'm')]));
    return Promise.resolve();
  },
};
