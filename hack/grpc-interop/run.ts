/**
 * `make grpc-interop`: the test cases of the gRPC project's interop client against its interop server, through a
 * GRPCRoute of the gateway as shipped, on h2c and over TLS. Not among them: cases that need credentials of Google's cloud,
 * and `pick_first_unary`, for which this server never says its name (it fails without anything between the two as well).
 * Exit status 1 when a case fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { ROOT, startProduct, type Product } from '../h2spec/product.js';

const BUILD = path.join(ROOT, 'build/grpc-interop');
const CASE_DEADLINE_MS = 60_000;

/** What the ORCA cases want of the client: its balancer reads the load reports. */
const ORCA_CONFIG = '{"loadBalancingConfig":[{"test_backend_metrics_load_balancer":{}}]}';

const CASES = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
  'orca_per_rpc',
  'orca_oob',
];

async function main(): Promise<boolean> {
  const port = await freePort();
  const server = spawn(path.join(BUILD, 'server'), ['-port', String(port)], { stdio: 'ignore' });
  try {
    const backend = { name: 'interop', hostnames: [], port, kind: 'GRPCRoute' } as const;
    const product = await startProduct(path.join(BUILD, 'gateway'), [
      { ...backend, appProtocol: 'kubernetes.io/h2c' },
    ]);
    try {
      return await runCases(product);
    } finally {
      await product.stop();
    }
  } finally {
    server.kill();
  }
}

async function runCases(product: Product): Promise<boolean> {
  let failed = 0;
  for (const secure of [false, true]) {
    console.log(`\ngRPC interop: ${secure ? 'h2 over TLS' : 'h2c'}`);
    const listener = secure
      ? ['-server_port', String(product.https), '-use_tls', '-use_test_ca', '-ca_file', product.caFile]
      : ['-server_port', String(product.http)];
    for (const name of CASES) if (!(await runCase(name, listener))) failed++;
  }
  console.log(`\n${CASES.length * 2 - failed} passed, ${failed} failed`);
  return failed === 0;
}

async function runCase(name: string, listener: readonly string[]): Promise<boolean> {
  const startedAt = performance.now();
  const args = ['-server_host', 'localhost', '-test_case', name, ...listener];
  if (name.startsWith('orca_')) args.push('-service_config_json', ORCA_CONFIG);
  const child = spawn(path.join(BUILD, 'client'), args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CASE_DEADLINE_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [status] = (await once(child, 'close')) as [number | null];
  const tookMs = Math.round(performance.now() - startedAt);
  console.log(`  ${status === 0 ? 'pass' : 'FAIL'}  ${name} (${tookMs} ms)`);
  if (status !== 0) console.log(output);
  return status === 0;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on TCP, so its address is of this kind.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

process.exitCode = (await main()) ? 0 : 1;
