import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'chai';

import { translateCommand } from '../../../src/cli/translate-command.js';
import { validateCommand } from '../../../src/cli/validate-command.js';

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: trickster}
spec: {controllerName: trickstercache.org/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: trickster
  listeners:
    - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
    - name: https
      port: 443
      protocol: HTTPS
      tls: {certificateRefs: [{name: missing-secret}]}
`;

const route = (name: string, rule: string, parent = 'gw'): string => `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: ${name}, namespace: team}
spec:
  parentRefs: [{name: ${parent}, namespace: infra}]
  rules:
    - ${rule}
`;

const ROUTES =
  route('no-service', 'backendRefs: [{name: ghost, port: 80}]') +
  route('no-port', 'backendRefs: [{name: web}]') +
  route('wrong-kind', 'backendRefs: [{kind: Widget, name: web, port: 80}]') +
  route('no-grant', 'backendRefs: [{name: far, namespace: elsewhere, port: 80}]') +
  route('bad-path', 'matches: [{path: {type: PathPrefix, value: no-slash}}]') +
  route('bad-regex', 'matches: [{path: {type: RegularExpression, value: "/(?=a)"}}]') +
  route('slip', 'backendRefs: [{name: web, prot: 80}]') +
  route('no-gateway', 'backendRefs: [{name: web, port: 80}]', 'gwe') +
  `
---
apiVersion: trickstercache.org/v1alpha1
kind: TricksterCachePolicy
metadata: {name: lost, namespace: team}
spec:
  targetRefs: [{kind: HTTPRoute, name: nowhere}]
  handler: proxycache
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: team}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: far, namespace: elsewhere}
spec: {ports: [{port: 80}]}
`;

describe('trickster-gateway validate', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'validate-'));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('reports ten different mistakes in one run, each with a place and what is wrong', () => {
    writeFileSync(join(directory, 'gateway.yaml'), GATEWAY);
    writeFileSync(join(directory, 'routes.yaml'), ROUTES);
    const { text, exitCode } = validateCommand([directory], undefined);
    const lines = text.trimEnd().split('\n');
    expect(exitCode).to.equal(1);
    const mistakes: readonly (readonly [place: RegExp, words: readonly string[]])[] = [
      [/gateway\.yaml:\d+: Gateway infra\/gw: /, ['listener https', 'missing-secret']],
      [/routes\.yaml:\d+: HTTPRoute team\/no-service: /, ['BackendNotFound', 'ghost']],
      [/routes\.yaml:\d+: HTTPRoute team\/no-port: /, ['port']],
      [/routes\.yaml:\d+: HTTPRoute team\/wrong-kind: /, ['InvalidKind', 'Widget']],
      [/routes\.yaml:\d+: HTTPRoute team\/no-grant: /, ['RefNotPermitted', 'elsewhere']],
      [/routes\.yaml:\d+: HTTPRoute team\/bad-path: /, ['value', '/']],
      [/routes\.yaml:\d+: HTTPRoute team\/bad-regex: /, ['UnsupportedValue', '(?=a)']],
      [/routes\.yaml:\d+: HTTPRoute team\/slip: /, ['prot', 'port']],
      [/routes\.yaml:\d+: HTTPRoute team\/no-gateway: spec\.parentRefs /, ['no Gateway']],
      [/routes\.yaml:\d+: TricksterCachePolicy team\/lost: /, ['TargetNotFound', 'nowhere']],
    ];
    for (const [place, words] of mistakes) {
      const found = lines.find((line) => place.test(line) && words.every((word) => line.includes(word)));
      expect(found, `${String(place)} ${words.join(' ')} in\n${text}`).to.be.a('string');
    }
    expect(lines.at(-1)).to.match(/^\d+ objects, 10 problems$/);
  });

  it('is content with what is right', () => {
    writeFileSync(join(directory, 'gateway.yaml'), GATEWAY.replace(/ {4}- name: https[\s\S]*/, ''));
    expect(validateCommand([directory], undefined)).to.deep.equal({
      text: '2 objects, no problem\n',
      exitCode: 0,
    });
  });
});

describe('trickster-gateway translate', () => {
  it('invariant 4: prints the same for any order of the files', () => {
    const directory = mkdtempSync(join(tmpdir(), 'translate-'));
    try {
      const [gateway, routes] = [join(directory, 'gateway.yaml'), join(directory, 'routes.yaml')];
      writeFileSync(gateway, GATEWAY);
      writeFileSync(routes, ROUTES);
      const one = translateCommand([gateway, routes], {});
      const other = translateCommand([routes, gateway], {});
      expect(other.text).to.equal(one.text);
      expect(one.text).to.include('HTTPRoute/team/no-service@Gateway/infra/gw');
      expect(JSON.parse(translateCommand([directory], { output: 'json' }).text)).to.have.keys(
        'configuration',
        'statuses',
        'events',
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('invents what a lone route needs', () => {
    const directory = mkdtempSync(join(tmpdir(), 'translate-'));
    try {
      writeFileSync(join(directory, 'route.yaml'), route('lone', 'backendRefs: [{name: web, port: 80}]'));
      const alone = translateCommand([directory], {}).text;
      const completed = translateCommand([directory], { addMissingResources: true }).text;
      expect(alone).not.to.include('HTTPRoute/team/lone@');
      expect(completed).to.include('HTTPRoute/team/lone@Gateway/infra/gw');
      expect(completed).to.include('upstream: Service/team/web/80');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
