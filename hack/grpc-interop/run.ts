/**
 * `make grpc-interop`: the test cases of the gRPC project's interop client against its interop server, through a
 * GRPCRoute of the gateway as shipped, on h2c and over TLS. Cases that need credentials of Google's cloud cannot run
 * anywhere else and are not among them. Exit status 1 when a case fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { ROOT, startProduct } from '../h2spec/product.js';

const BUILD = path.join(ROOT, 'build/grpc-interop');
const CASE_DEADLINE_MS = 60_000;
const HOSTNAME = 'interop.test';

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
  'pick_first_unary',
  'orca_per_rpc',
  'orca_oob',
];

async function main(): Promise<boolean> {
  const port = await freePort();
  const server = spawn(path.join(BUILD, 'server'), ['-port', String(port)], { stdio: 'ignore' });
  const product = await startProduct(path.join(BUILD, 'gateway'), [
    { name: 'interop', hostnames: [HOSTNAME], port, kind: 'GRPCRoute', appProtocol: 'kubernetes.io/h2c' },
  ]);
  let failed = 0;
  for (const secure of [false, true]) {
    console.log(`\ngRPC interop: ${secure ? 'h2 over TLS' : 'h2c'}`);
    const listener = secure
      ? ['-server_port', String(product.https), '-use_tls', '-use_test_ca', '-ca_file', product.caFile]
      : ['-server_port', String(product.http)];
    for (const name of CASES) if (!(await runCase(name, listener))) failed++;
  }
  await product.stop();
  const exited = once(server, 'exit');
  server.kill();
  await exited;
  const total = CASES.length * 2;
  console.log(`\n${total - failed} passed, ${failed} failed`);
  return failed === 0;
}

async function runCase(name: string, listener: readonly string[]): Promise<boolean> {
  const startedAt = performance.now();
  const args = [
    '-server_host',
    '127.0.0.1',
    '-server_host_override',
    HOSTNAME,
    '-test_case',
    name,
    ...listener,
  ];
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
