/**
 * `make h2spec`: the h2spec conformance suite (generic, http2, hpack; strict) against the gateway as shipped, on h2c by
 * prior knowledge and over TLS, with an HTTP/1.1 and an HTTP/2 backend. Exit status 1 when a test fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import path from 'node:path';
import { ROOT, startProduct, type Backend } from './product.js';

const BUILD = path.join(ROOT, 'build/h2spec');

async function main(): Promise<boolean> {
  let passed = true;
  for (const backend of ['HTTP/1.1', 'HTTP/2'] as const) {
    const server = await startBackend(backend);
    // It listens on TCP, so its address is of this kind.
    const { port } = server.address() as AddressInfo;
    const route: Backend = {
      name: 'origin',
      hostnames: [],
      port,
      kind: 'HTTPRoute',
      ...(backend === 'HTTP/2' && { appProtocol: 'kubernetes.io/h2c' }),
    };
    const product = await startProduct(path.join(BUILD, 'gateway'), [route]);
    try {
      for (const secure of [false, true]) {
        console.log(`\nh2spec: ${secure ? 'h2 over TLS' : 'h2c'} to a backend of ${backend}`);
        const listener = secure ? ['-p', String(product.https), '-t', '-k'] : ['-p', String(product.http)];
        passed = (await h2spec(listener)) && passed;
      }
    } finally {
      await product.stop();
      server.close();
    }
  }
  return passed;
}

async function startBackend(protocol: 'HTTP/1.1' | 'HTTP/2'): Promise<Server> {
  const options = { keepAliveTimeout: 60_000 };
  const server =
    protocol === 'HTTP/2'
      ? createHttp2Server((request, response) => {
          request.resume().on('end', () => response.end('hello'));
        })
      : createServer(options, (request, response) => {
          request.resume().on('end', () => response.end('hello'));
        });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function h2spec(listener: readonly string[]): Promise<boolean> {
  const args = ['generic', 'http2', 'hpack', '--strict', '-h', '127.0.0.1', '-o', '5', ...listener];
  const child = spawn(path.join(BUILD, 'h2spec'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  const [status] = (await exited) as [number | null];
  const lines = output.split('\n');
  const summary = lines.findLast((line) => /\d+ tests, \d+ passed/.test(line)) ?? 'h2spec did not finish';
  if (status !== 0)
    console.log(lines.slice(lines.findIndex((line) => line.startsWith('Failures'))).join('\n'));
  console.log(summary);
  return status === 0;
}

process.exitCode = (await main()) ? 0 : 1;
