/**
 * churn NAMESPACE DOMAIN: changes what the ledger asks for, until SIGTERM: the route `flip` gets the other revision (backend, request and
 * response filter, in one write) every 200 ms; the Deployments of both revisions grow to five and shrink to one; the
 * certificate is replaced; a listener comes and goes on another port. Prints how often, and exits 1 when a write failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { issueCertificate } from '../../../src/util/issue-certificate.js';

const [namespace = '', domain = ''] = process.argv.slice(2);
const revisions = ['red', 'blue'] as const;
const gatewayApi = `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}`;
const day = 86_400_000;

const proxy = spawn('kubectl', ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => proxy.kill('SIGKILL'));
const [banner] = (await once(proxy.stdout.setEncoding('utf8'), 'data')) as [string];
const api = `http://${/127\.0\.0\.1:\d+/.exec(banner)?.[0] ?? ''}`;

const counts = new Map<string, number>();
const problems: string[] = [];
let stopping = false;

async function patch(what: string, path: string, body: object): Promise<void> {
  const response = await fetch(api + path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.ok) counts.set(what, (counts.get(what) ?? 0) + 1);
  else problems.push(`${what}: ${response.status} ${text.slice(0, 300)}`);
}

function filter(
  type: 'RequestHeaderModifier' | 'ResponseHeaderModifier',
  headers: Record<string, string>,
): object {
  const set = Object.entries(headers).map(([name, value]) => ({ name, value }));
  return {
    type,
    [type === 'RequestHeaderModifier' ? 'requestHeaderModifier' : 'responseHeaderModifier']: { set },
  };
}

function flip(round: number): Promise<void> {
  const revision = revisions[round % 2] ?? 'red';
  const rule = {
    filters: [
      filter('RequestHeaderModifier', { 'x-revision': revision }),
      filter('ResponseHeaderModifier', { 'x-revision': revision, 'x-route': 'flip' }),
    ],
    backendRefs: [{ name: revision, port: 80 }],
  };
  return patch('flips', `${gatewayApi}/httproutes/flip`, { spec: { rules: [rule] } });
}

async function scale(round: number): Promise<void> {
  const body = { spec: { replicas: round % 2 === 0 ? 5 : 1 } };
  for (const name of revisions) {
    await patch('scales', `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`, body);
  }
}

function rotate(round: number): Promise<void> {
  const now = Date.now();
  const { certificate, privateKey } = issueCertificate({
    commonName: `round ${round}`,
    dnsNames: [`*.${domain}`],
    usage: 'server',
    notBefore: new Date(now - day),
    notAfter: new Date(now + day),
  });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) };
  return patch('certificates', `/api/v1/namespaces/${namespace}/secrets/wild`, { data });
}

function relisten(round: number): Promise<void> {
  const listener = {
    name: 'passing',
    port: 8100 + (round % 8),
    protocol: 'HTTP',
    hostname: `passing.${domain}`,
  };
  return patch('listeners', `${gatewayApi}/listenersets/passing`, { spec: { listeners: [listener] } });
}

async function repeat(change: (round: number) => Promise<void>, every: number): Promise<void> {
  for (let round = 0; !stopping; round++) {
    const begin = performance.now();
    await change(round).catch((error: unknown) => problems.push(String(error)));
    await new Promise((resolve) => setTimeout(resolve, every - (performance.now() - begin)));
  }
}

process.on('SIGTERM', () => (stopping = true));
await Promise.all([repeat(flip, 200), repeat(scale, 6000), repeat(rotate, 1500), repeat(relisten, 700)]);
for (const text of problems.slice(0, 5)) console.log(text);
console.log(
  [...counts].map(([what, count]) => `${count} ${what}`).join(', ') + `, ${problems.length} failed writes`,
);
process.exit(problems.length > 0 ? 1 : 0);
