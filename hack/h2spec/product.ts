/**
 * Starts the product as shipped (`node dist/src/main.js run --source DIR`) for suites that others wrote.
 *
 * In: backends by hostname. Out: a Gateway with one HTTP and one HTTPS listener that serve them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { issueCertificate } from '../../src/util/issue-certificate.js';

export const ROOT = path.resolve(import.meta.dirname, '../..');
const NAMESPACE = 'default';
const DAY_MS = 86_400_000;
const START_DEADLINE_MS = 20_000;

export interface Backend {
  readonly name: string;
  /** The route answers for this name and any other when it is the only one. */
  readonly hostnames: readonly string[];
  readonly port: number;
  readonly kind: 'HTTPRoute' | 'GRPCRoute';
  readonly appProtocol?: 'kubernetes.io/h2c';
}

export interface Product {
  readonly http: number;
  readonly https: number;
  /** PEM file of the CA that issued the listener's certificate. */
  readonly caFile: string;
  stop(): Promise<void>;
}

/** Resolves when both listeners accept connections. `directory` is made anew. */
export async function startProduct(directory: string, backends: readonly Backend[]): Promise<Product> {
  const [http, https, management, metrics] = await freePorts(4);
  if (http === undefined || https === undefined) throw new Error('no free ports');
  const source = path.join(directory, 'source');
  const caFile = path.join(directory, 'ca.pem');
  const configFile = path.join(directory, 'config.yaml');
  await rm(directory, { recursive: true, force: true });
  await mkdir(source, { recursive: true });
  const { ca, secret } = certificates(backends.flatMap(({ hostnames }) => hostnames));
  await writeFile(caFile, ca);
  await writeFile(
    configFile,
    stringify({
      kubernetes: { defaults: { addressing: 'pool' } },
      mgmt: { listen_port: management },
      metrics: { listen_address: '127.0.0.1', listen_port: metrics },
      logging: { log_level: 'warn' },
    }),
  );
  const objects = [...gateway(http, https), secret, ...backends.flatMap(objectsOf)];
  await writeFile(
    path.join(source, 'objects.yaml'),
    objects.map((object) => stringify(object)).join('---\n'),
  );
  const main = path.join(ROOT, 'dist/src/main.js');
  const child = spawn(process.execPath, [main, 'run', '--config', configFile, '--source', source], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await Promise.all([accepts(child, http), accepts(child, https)]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { http, https, caFile, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`the gateway ended by itself with status ${child.exitCode}`);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function accepts(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with status ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`the gateway does not listen on port ${port}`);
    await wait(50);
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  // They listen on TCP, so their addresses are of this kind.
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(
    servers.map((server) => {
      server.close();
      return once(server, 'close');
    }),
  );
  return ports;
}

function certificates(hostnames: readonly string[]): { ca: string; secret: object } {
  const now = Date.now();
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + DAY_MS) };
  const authority = issueCertificate({ ...validity, commonName: 'Suite CA', usage: 'authority' });
  const dnsNames = ['localhost', ...hostnames];
  const leaf = issueCertificate(
    { ...validity, commonName: 'localhost', dnsNames, usage: 'server' },
    authority,
  );
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'certificate', namespace: NAMESPACE },
    type: 'kubernetes.io/tls',
    data: {
      'tls.crt': Buffer.from(leaf.certificate).toString('base64'),
      'tls.key': Buffer.from(leaf.privateKey).toString('base64'),
    },
  };
  return { ca: authority.certificate, secret };
}

function gateway(http: number, https: number): object[] {
  return [
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
      spec: { addresses: ['127.0.0.1'] },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'suite', namespace: NAMESPACE },
      spec: {
        gatewayClassName: 'trickster',
        listeners: [
          { name: 'http', port: http, protocol: 'HTTP' },
          {
            name: 'https',
            port: https,
            protocol: 'HTTPS',
            tls: { certificateRefs: [{ name: 'certificate' }] },
          },
        ],
      },
    },
  ];
}

function objectsOf({ name, hostnames, port, kind, appProtocol }: Backend): object[] {
  const metadata = { name, namespace: NAMESPACE };
  const protocol = appProtocol ? { appProtocol } : {};
  return [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind,
      metadata,
      spec: {
        parentRefs: [{ name: 'suite' }],
        ...(hostnames.length > 0 && { hostnames }),
        rules: [{ backendRefs: [{ name, port: 80 }] }],
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80, ...protocol }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ port, protocol: 'TCP', ...protocol }],
      endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
    },
  ];
}
