import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'chai';
import { stringify } from 'yaml';

import { GatewayProcess } from '../../../src/app/gateway-process.js';
import { parseOptions } from '../../../src/app/options/load-options.js';
import { explainCommand } from '../../../src/cli/explain-command.js';
import { statusCommand } from '../../../src/cli/status-command.js';
import { welcome } from '../../../src/cli/welcome.js';
import type { PassOutcome } from '../../../src/aggregation/control-pass.js';
import { freePort } from '../../support/free-port.js';

const CLASS = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: trickster}
spec: {controllerName: trickstercache.org/gateway-controller}
---
apiVersion: trickstercache.org/v1alpha1
kind: AddressPool
metadata: {name: loopback}
spec: {addresses: [127.0.0.1]}
`;

const gateway = (port: number): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: shop}
spec:
  gatewayClassName: trickster
  listeners: [{name: http, port: ${String(port)}, protocol: HTTP}]
`;

const route = (origin: number, marker: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{name: gw}]
  rules:
    - filters:
        - type: ResponseHeaderModifier
          responseHeaderModifier: {set: [{name: x-marker, value: ${marker}}]}
      backendRefs: [{name: web, port: 80}]
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  annotations: {trickstercache.org/endpoint: "127.0.0.1:${String(origin)}"}
spec: {ports: [{port: 80}]}
`;

describe('GatewayProcess on files', function () {
  this.timeout(30_000);

  let directory: string;
  let port: number;
  let mgmtPort: number;
  let originPort: number;
  let gatewayProcess: GatewayProcess;
  let outcomes: PassOutcome[];
  const raw = () =>
    parseOptions(
      stringify({
        kubernetes: { defaults: { addressing: 'pool' } },
        mgmt: { listen_port: mgmtPort },
        metrics: { listen_address: '127.0.0.1', listen_port: 0 },
        logging: { log_level: 'silent' },
        engine: { workers: 1 },
        demo_origin: { listen_ports: [originPort] },
      }),
      'test',
    );

  const ask = (path = '/'): Promise<Response> => fetch(`http://127.0.0.1:${String(port)}${path}`);
  const mgmt = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${String(mgmtPort)}${path}`);

  async function until(what: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 15_000;
    while (!(await what())) {
      if (Date.now() > deadline) throw new Error('it did not come true in time');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const untilMarker = (marker: string): Promise<void> =>
    until(async () => (await ask()).headers.get('x-marker') === marker);

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-'));
    [port, mgmtPort, originPort] = [await freePort(), await freePort(), await freePort()];
    writeFileSync(join(directory, 'class.yaml'), CLASS);
    writeFileSync(join(directory, 'gateway.yaml'), gateway(port));
    writeFileSync(join(directory, 'route.yaml'), route(originPort, 'first'));
    outcomes = [];
    const options = { input: { type: 'files', directory } as const, raw: raw(), version: '1.2.3' };
    gatewayProcess = await GatewayProcess.create(options, (outcome) => outcomes.push(outcome));
    await gatewayProcess.start();
    await until(async () => (await mgmt('/trickster/ready')).status === 200);
  });

  after(async () => {
    await gatewayProcess.stop(AbortSignal.abort());
    rmSync(directory, { recursive: true });
  });

  it('serves what the files say once it is ready', async () => {
    const response = await ask('/x');
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-marker')).to.equal('first');
    expect(await response.json()).to.include({ path: '/x', service: 'demo-v1' });
  });

  it('tells the status of everything', async () => {
    const base = `http://127.0.0.1:${String(mgmtPort)}`;
    const text = await statusCommand(undefined, { mgmt: base });
    expect(text).to.include('ok  Gateway shop/gw listener http (1 routes)');
    expect(await statusCommand('httproutes', { mgmt: base, output: 'wide' })).to.match(
      /^ok {2}HTTPRoute shop\/web on Gateway gw\n {6}Accepted=True/,
    );
    expect(await statusCommand('Gateway', { mgmt: base, namespace: 'other' })).to.equal('nothing to show\n');
    expect(await statusCommand(undefined, { mgmt: base, output: 'json' })).to.include('lastTransitionTime');
    expect(await statusCommand(undefined, { mgmt: base, output: 'yaml' })).to.include('lastTransitionTime');
    const wrong: unknown = await statusCommand(undefined, { mgmt: base, output: 'xml' }).catch(
      (e: unknown) => e,
    );
    expect(wrong).to.have.property('code', 'ERR_USAGE');
  });

  it('explains a request', async () => {
    const base = `http://127.0.0.1:${String(mgmtPort)}`;
    const text = await explainCommand([`http://127.0.0.1:${String(port)}/x`], { mgmt: base });
    expect(text).to.include('route: HTTPRoute/shop/web@Gateway/shop/gw');
    expect(text).to.include('upstream: Service/shop/web/80');
    expect(await explainCommand(['GET', 'http://127.0.0.1:1/'], { mgmt: base })).to.include(
      'no HTTP listener',
    );
    const wrong: unknown = await explainCommand(['nothing'], { mgmt: base }).catch((error: unknown) => error);
    expect(wrong).to.have.property('code', 'ERR_USAGE');
  });

  it('welcomes with what serves where', () => {
    const [first] = outcomes;
    if (!first) throw new Error('nothing was applied');
    const text = welcome(first, raw());
    expect(text).to.include(`http://127.0.0.1:${String(port)}`);
    expect(text).to.include('HTTPRoute shop/web');
    expect(text).to.include(`curl -i http://127.0.0.1:${String(port)}/cached/hello`);
  });

  it('serves a change without losing a request', async () => {
    const enough = new AbortController();
    const load = (async () => {
      let asked = 0;
      for (; !enough.signal.aborted; asked += 1) expect((await ask()).status).to.equal(200);
      return asked;
    })();
    writeFileSync(join(directory, 'route.yaml'), route(originPort, 'second'));
    await untilMarker('second');
    enough.abort();
    expect(await load).to.be.greaterThan(0);
  });

  it('invariant 10: a broken edit is told with its place, and what was good serves on', async () => {
    const good = readFileSync(join(directory, 'route.yaml'), 'utf8');
    writeFileSync(join(directory, 'route.yaml'), good.replace('port: 80}]\n---', 'port: eighty}]\n---'));
    const problems = async (): Promise<string[]> =>
      (await (await mgmt('/trickster/problems')).json()) as string[];
    await until(async () => (await problems()).length > 0);
    const [problem = ''] = await problems();
    expect(problem).to.match(
      /route\.yaml:\d+: HTTPRoute shop\/web: spec\.rules\[0\]\.backendRefs\[0\]\.port/,
    );
    expect((await ask()).headers.get('x-marker')).to.equal('second');
    writeFileSync(join(directory, 'route.yaml'), route(originPort, 'third'));
    await untilMarker('third');
    expect(await problems()).to.deep.equal([]);
  });

  it('S-17 a Service that is gone is told, answers 500, and heals', async () => {
    const both = route(originPort, 'third');
    writeFileSync(join(directory, 'route.yaml'), both.split('---')[0] ?? '');
    await until(async () => (await ask()).status === 500);
    const text = await statusCommand('HTTPRoute', { mgmt: `http://127.0.0.1:${String(mgmtPort)}` });
    expect(text).to.include('BAD HTTPRoute shop/web').and.include('ResolvedRefs=False BackendNotFound');
    writeFileSync(join(directory, 'route.yaml'), both);
    await untilMarker('third');
  });

  it('E-04 a Gateway of another class is not served', async () => {
    writeFileSync(
      join(directory, 'other.yaml'),
      gateway(await freePort())
        .replace('name: gw', 'name: foreign')
        .replace('gatewayClassName: trickster', 'gatewayClassName: another'),
    );
    writeFileSync(join(directory, 'route.yaml'), route(originPort, 'fourth'));
    await untilMarker('fourth');
    const text = await statusCommand('Gateway', { mgmt: `http://127.0.0.1:${String(mgmtPort)}` });
    expect(text).not.to.include('foreign');
    rmSync(join(directory, 'other.yaml'));
  });

  it('Z-01 routes that come one by one: nothing but 404, then nothing but 200', async () => {
    const at = (path: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: at${path.replace('/', '-')}, namespace: shop}
spec:
  parentRefs: [{name: gw}]
  rules:
    - matches: [{path: {value: ${path}}}]
      backendRefs: [{name: web, port: 80}]
`;
    const service = route(originPort, 'fifth').split('---')[1] ?? '';
    writeFileSync(join(directory, 'route.yaml'), [at('/canary'), service].join('---'));
    await until(async () => (await ask('/other')).status === 404);

    const answers = async (path: string): Promise<number[]> => {
      const seen: number[] = [];
      for (let after = 0; after < 20; after += Number(seen.at(-1) !== 404)) {
        seen.push((await ask(path)).status);
        expect((await ask('/canary')).status).to.equal(200);
        if (seen.length > 5_000) throw new Error(`${path} is not served`);
      }
      return seen;
    };
    const all = [];
    for (const path of Array.from({ length: 40 }, (_, index) => `/n${String(index)}`)) {
      all.push(answers(path));
      writeFileSync(join(directory, `${path.slice(1)}.yaml`), at(path));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const seen of await Promise.all(all))
      expect(seen.slice(seen.indexOf(200))).to.deep.equal(Array.from({ length: 20 }, () => 200));
  });
});
