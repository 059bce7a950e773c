/**
 * Starts the product on 200 Gateways, 2,000 routes and 4,000 endpoints from files and prints how long it took until
 * all of them served, and how long one changed route took to serve its change. Exit 1 beyond the goals: for the start,
 * and for the changes in the median. The first changes take longer, because the code that they run is not compiled yet.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';

import { stringify } from 'yaml';

const GATEWAYS = 200;
const ROUTES_PER_GATEWAY = 10;
const GOAL_START_MS = 5_000;
const GOAL_CHANGE_MS = 50;
const CHANGES = 20;
const DIRECTORY = 'build/scale';
const PORT = 8080;

const addressOf = (gateway: number): string => `127.77.${String(gateway >> 8)}.${String(gateway & 255)}`;

function documents(gateway: number, marker: string, origins: readonly number[]): string {
  const name = `gw-${String(gateway)}`;
  const metadata = (of: string) => ({ name: of, namespace: name });
  const objects: object[] = [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: metadata(name),
      spec: {
        gatewayClassName: 'trickster',
        addresses: [{ type: 'IPAddress', value: addressOf(gateway) }],
        listeners: [{ name: 'http', port: PORT, protocol: 'HTTP' }],
      },
    },
  ];
  for (let route = 0; route < ROUTES_PER_GATEWAY; route += 1) {
    const routeName = `route-${String(route)}`;
    const changed = route === 0 ? marker : 'unchanged';
    objects.push(
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata: metadata(routeName),
        spec: {
          parentRefs: [{ name }],
          hostnames: [`${routeName}.test`],
          rules: [
            {
              filters: [
                {
                  type: 'ResponseHeaderModifier',
                  responseHeaderModifier: { set: [{ name: 'x-marker', value: changed }] },
                },
              ],
              backendRefs: [{ name: routeName, port: 80 }],
            },
          ],
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          ...metadata(routeName),
          annotations: {
            'trickstercache.org/endpoint': origins.map((port) => `127.0.0.1:${String(port)}`).join(','),
          },
        },
        spec: { ports: [{ port: 80 }] },
      },
    );
  }
  return objects.map((object) => stringify(object)).join('---\n');
}

/** The marker that a route answers with; undefined while it does not serve. */
function ask(gateway: number, route: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(
      {
        host: addressOf(gateway),
        port: PORT,
        headers: { host: `route-${String(route)}.test` },
        agent: false,
        timeout: 2_000,
      },
      (response) => {
        response.resume();
        const marker = response.headers['x-marker'];
        resolve(response.statusCode === 200 && typeof marker === 'string' ? marker : undefined);
      },
    );
    request.on('error', () => {
      resolve(undefined);
    });
  });
}

async function until(what: () => Promise<boolean>, pauseMs: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await what())) {
    if (Date.now() > deadline) throw new Error('it did not come to serve within a minute');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

const write = (gateway: number, marker: string, origins: readonly number[]): void => {
  writeFileSync(`${DIRECTORY}/objects/gw-${String(gateway)}.yaml`, documents(gateway, marker, origins));
};

function writeInputs(origins: readonly number[]): void {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(`${DIRECTORY}/objects`, { recursive: true });
  writeFileSync(
    `${DIRECTORY}/objects/class.yaml`,
    [
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'GatewayClass',
        metadata: { name: 'trickster' },
        spec: { controllerName: 'trickstercache.org/gateway-controller' },
      },
      {
        apiVersion: 'trickstercache.org/v1alpha1',
        kind: 'AddressPool',
        metadata: { name: 'loopback' },
        spec: { addresses: ['127.77.0.0/16'], autoAssign: false },
      },
    ]
      .map((object) => stringify(object))
      .join('---\n'),
  );
  for (let gateway = 0; gateway < GATEWAYS; gateway += 1) write(gateway, 'first', origins);
  writeFileSync(
    `${DIRECTORY}/config.yaml`,
    stringify({
      kubernetes: { defaults: { addressing: 'pool' } },
      mgmt: { listen_port: 0 },
      metrics: { listen_address: '127.0.0.1', listen_port: 0 },
      logging: { log_level: 'warn' },
    }),
  );
}

async function startOrigins(): Promise<{ servers: Server[]; ports: number[] }> {
  const servers = [0, 1].map(() => createServer((_, response) => response.end('ok')));
  const ports: number[] = [];
  for (const server of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') ports.push(address.port);
  }
  return { servers, ports };
}

/** A configuration is served as a whole, so one route that answers stands for all; that is checked afterwards. */
async function untilServed(): Promise<void> {
  await until(async () => (await ask(GATEWAYS - 1, ROUTES_PER_GATEWAY - 1)) !== undefined, 5);
}

async function checkAllServe(): Promise<void> {
  for (let gateway = 0; gateway < GATEWAYS; gateway += 1) {
    const markers = await Promise.all(
      Array.from({ length: ROUTES_PER_GATEWAY }, (_, route) => ask(gateway, route)),
    );
    if (markers.includes(undefined)) throw new Error(`gateway ${String(gateway)} does not serve every route`);
  }
}

/** Times in ms from the write of a file to the first changed answer. */
async function measureChanges(origins: readonly number[]): Promise<number[]> {
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const gateway = (change * 37) % GATEWAYS;
    const marker = `change-${String(change)}`;
    write(gateway, marker, origins);
    const changed = performance.now();
    await until(async () => (await ask(gateway, 0)) === marker, 0);
    times.push(performance.now() - changed);
  }
  return times;
}

async function main(): Promise<boolean> {
  const origins = await startOrigins();
  writeInputs(origins.ports);
  const started = performance.now();
  const product: ChildProcess = spawn(
    process.execPath,
    ['dist/src/main.js', 'run', '--config', `${DIRECTORY}/config.yaml`, '--source', `${DIRECTORY}/objects`],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  try {
    await untilServed();
    const startMs = performance.now() - started;
    await checkAllServe();
    const times = await measureChanges(origins.ports);
    const median = times.toSorted((a, b) => a - b)[times.length >> 1] ?? Infinity;
    const routes = GATEWAYS * ROUTES_PER_GATEWAY;
    console.log(
      `${String(GATEWAYS)} Gateways, ${String(routes)} routes, ${String(routes * 2)} endpoints: ` +
        `served ${startMs.toFixed(0)} ms after the start (goal ${String(GOAL_START_MS)})`,
    );
    console.log(
      `one changed route: served after ${median.toFixed(1)} ms in the median of ${String(CHANGES)} ` +
        `(goal ${String(GOAL_CHANGE_MS)}), ${Math.max(...times).toFixed(1)} ms at worst; ` +
        `one after the other: ${times.map((ms) => ms.toFixed(0)).join(' ')}`,
    );
    return startMs <= GOAL_START_MS && median <= GOAL_CHANGE_MS;
  } finally {
    product.kill('SIGKILL');
    for (const server of origins.servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

process.exitCode = (await main()) ? 0 : 1;
