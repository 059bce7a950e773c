import { expect } from 'chai';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';

import type { AnyObject } from '../../../src/apis/objects.js';
import { explainRequest } from '../../../src/app/explain.js';
import type { StatusAddress } from '../../../src/graph/status-plan.js';
import { createTranslator, translate } from '../../../src/translation/translate.js';
import type { Translation } from '../../../src/translation/translation.js';
import { clusterFrom, objectFrom } from '../../support/translation/cluster.js';
import { fakeLibraries } from '../../support/translation/fake-libraries.js';
import { arbitraryChange, healthyCluster } from '../../support/translation/random-cluster.js';
import { testInput, testSettings } from '../../support/translation/settings.js';

const settings = testSettings();
const libraries = fakeLibraries();

/** A cluster that the test changes; every look is a pass of one translator. */
class Steps {
  readonly #objects: Map<string, AnyObject>;
  readonly #translator = createTranslator(settings, libraries);
  published: readonly StatusAddress[] | undefined = [{ type: 'IPAddress', value: '192.0.2.1' }];

  constructor(yaml: string) {
    this.#objects = new Map();
    this.put(yaml);
  }

  put(yaml: string): void {
    for (const document of parseAllDocuments(yaml)) {
      const object = objectFrom(document.toJS() as Record<string, unknown>, 'tolerant');
      this.#objects.set(`${object.kind}/${object.metadata.name}`, object);
    }
  }

  remove(key: string): void {
    expect(this.#objects.delete(key), key).to.equal(true);
  }

  /** The same as after a cold start, whatever came before. */
  look(): Translation {
    const input = testInput(clusterFrom([...this.#objects.values()]), { publishedAddresses: this.published });
    const translation = this.#translator(input);
    expect(translation).to.deep.equal(translate(settings, libraries, input));
    return translation;
  }
}

/** `Type Status Reason` of every condition of an object's status. */
function conditionsOf({ statuses }: Translation, kind: string, name: string): readonly string[] {
  const found = statuses.find(({ object }) => object.kind === kind && object.name === name);
  const said: string[] = [];
  JSON.stringify(found?.status, (_key, part: unknown) => {
    if (typeof part === 'object' && part !== null && 'reason' in part && 'type' in part && 'status' in part)
      said.push(`${String(part.type)} ${String(part.status)} ${String(part.reason)}`);
    return part;
  });
  return said;
}

function ask(translation: Translation, url: string, headers: readonly string[] = []) {
  const explained = explainRequest(translation.configuration, { method: 'GET', url: new URL(url), headers });
  if (!('answers' in explained)) return { problem: explained.problem };
  const [answer] = explained.answers;
  return { outcome: answer?.outcome, route: answer?.route, rule: answer?.ruleIndex };
}

const BASE = `
kind: GatewayClass
metadata: {name: lab}
spec: {controllerName: trickstercache.org/gateway-controller}
---
kind: Gateway
metadata: {name: edge, namespace: ns}
spec: {gatewayClassName: lab, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
kind: Gateway
metadata: {name: edge2, namespace: ns}
spec: {gatewayClassName: lab, listeners: [{name: http, port: 8080, protocol: HTTP}]}
---
kind: Service
metadata: {name: v1, namespace: ns}
spec: {ports: [{port: 80}]}
`;

const routeTo = (parents: string, hostname = 'a.test'): string => `
kind: HTTPRoute
metadata: {name: r, namespace: ns}
spec:
  parentRefs: ${parents}
  hostnames: [${hostname}]
  rules: [{backendRefs: [{name: v1, port: 80}]}]
`;

describe('what follows from a change', () => {
  it('S-03 a moved route is served by the new Gateway only, in the pass that says so', () => {
    const steps = new Steps(BASE);
    steps.put(routeTo('[{name: edge}]'));
    const before = steps.look();
    expect(ask(before, 'http://a.test/').outcome).to.equal('found');
    expect(ask(before, 'http://a.test:8080/').outcome).to.equal('no-host');
    steps.put(routeTo('[{name: edge2}]'));
    const after = steps.look();
    expect(ask(after, 'http://a.test/').outcome).to.equal('no-host');
    expect(ask(after, 'http://a.test:8080/').outcome).to.equal('found');
    const status = after.statuses.find(({ object }) => object.name === 'r')?.status;
    expect(status?.shape === 'route' && status.parents.map(({ parentRef }) => parentRef.name)).to.deep.equal([
      'edge2',
    ]);
  });

  it('S-06 classes of one controller agree on the status of a route of both', () => {
    const steps = new Steps(
      BASE.replace('metadata: {name: edge2', 'metadata: {name: gone') +
        `---
kind: GatewayClass
metadata: {name: lab2}
spec: {controllerName: trickstercache.org/gateway-controller}
---
kind: Gateway
metadata: {name: edge2, namespace: ns}
spec: {gatewayClassName: lab2, listeners: [{name: http, port: 8081, protocol: HTTP}]}
`,
    );
    steps.put(routeTo('[{name: edge}, {name: edge2}]'));
    const first = steps.look();
    const route = first.statuses.filter(({ object }) => object.name === 'r');
    expect(route, 'one status, so that nobody writes over it').to.have.length(1);
    expect(conditionsOf(first, 'HTTPRoute', 'r')).to.deep.equal([
      'Accepted True Accepted',
      'ResolvedRefs True ResolvedRefs',
      'Accepted True Accepted',
      'ResolvedRefs True ResolvedRefs',
    ]);
    // The other class changes; what is said of the route is the very same.
    steps.put(`
kind: GatewayClass
metadata: {name: lab2, generation: 2}
spec: {controllerName: trickstercache.org/gateway-controller, description: again}
`);
    expect(steps.look().statuses.filter(({ object }) => object.name === 'r')).to.deep.equal(route);
  });

  it('S-13 a Gateway is programmed again when its address returns, untouched', () => {
    const steps = new Steps(BASE);
    expect(conditionsOf(steps.look(), 'Gateway', 'edge')).to.include('Programmed True Programmed');
    steps.published = [];
    expect(conditionsOf(steps.look(), 'Gateway', 'edge')).to.include('Programmed False AddressNotAssigned');
    steps.published = [{ type: 'Hostname', value: 'lb.test' }];
    expect(conditionsOf(steps.look(), 'Gateway', 'edge')).to.include('Programmed True Programmed');
  });

  const policy = (name: string, day: number): string => `
kind: BackendTLSPolicy
metadata: {name: ${name}, namespace: ns, creationTimestamp: '2026-01-0${day}T00:00:00Z'}
spec:
  targetRefs: [{group: '', kind: Service, name: v1}]
  validation: {hostname: ${name}.test, wellKnownCACertificates: System}
`;

  it('P-05 the older policy wins; when it goes, the loser recovers', () => {
    const steps = new Steps(BASE);
    steps.put(routeTo('[{name: edge}]'));
    steps.put(policy('younger', 2));
    steps.put(policy('older', 1));
    const both = steps.look();
    const serverName = ({ configuration }: Translation) => configuration.upstreams[0]?.tls?.serverName;
    expect(serverName(both)).to.equal('older.test');
    expect(conditionsOf(both, 'BackendTLSPolicy', 'older')).to.include('Accepted True Accepted');
    expect(conditionsOf(both, 'BackendTLSPolicy', 'younger')).to.include('Accepted False Conflicted');
    steps.remove('BackendTLSPolicy/older');
    const one = steps.look();
    expect(serverName(one)).to.equal('younger.test');
    expect(conditionsOf(one, 'BackendTLSPolicy', 'younger')).to.include('Accepted True Accepted');
    steps.remove('BackendTLSPolicy/younger');
    expect(steps.look().configuration.upstreams[0]).to.not.have.property('tls');
  });

  it('P-03 the CA of a backend follows its ConfigMap, and is not done without', () => {
    const steps = new Steps(BASE);
    steps.put(routeTo('[{name: edge}]'));
    steps.put(`
kind: BackendTLSPolicy
metadata: {name: p, namespace: ns}
spec:
  targetRefs: [{group: '', kind: Service, name: v1}]
  validation: {hostname: v1.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}
`);
    const withCa = (pem: string): string => `
kind: ConfigMap
metadata: {name: ca, namespace: ns}
data: {ca.crt: ${pem}}
`;
    const upstream = () => steps.look().configuration.upstreams[0];
    steps.put(withCa('CA good'));
    expect(upstream()?.tls?.caBundle).to.equal('CA good');
    steps.put(withCa('CA wrong'));
    expect(upstream()?.tls?.caBundle).to.equal('CA wrong');
    steps.put(withCa('garbage'));
    expect(upstream()).to.not.have.property('tls');
    expect(upstream()?.refusal?.status).to.equal(500);
    steps.remove('ConfigMap/ca');
    expect(upstream()?.refusal?.status).to.equal(500);
    steps.put(withCa('CA good'));
    expect(upstream()?.tls?.caBundle).to.equal('CA good');
  });

  it('L-04 the path of an ACME solver wins over the redirect, and the listener heals with its Secret', () => {
    const challenge = '/.well-known/acme-challenge/token';
    const steps = new Steps(
      BASE.replace(
        'spec: {gatewayClassName: lab, listeners: [{name: http, port: 80',
        'spec: {gatewayClassName: lab, allowedListeners: {namespaces: {from: Same}}, listeners: [{name: http, port: 80',
      ),
    );
    steps.put(`
kind: ListenerSet
metadata: {name: tls-only, namespace: ns}
spec:
  parentRef: {name: edge}
  listeners:
    - {name: https, port: 443, protocol: HTTPS, hostname: a.test, tls: {certificateRefs: [{name: a-test}]}}
---
kind: HTTPRoute
metadata: {name: redirect, namespace: ns, creationTimestamp: '2026-01-01T00:00:00Z'}
spec:
  parentRefs: [{name: edge, sectionName: http}]
  rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]
---
kind: HTTPRoute
metadata: {name: app, namespace: ns}
spec:
  parentRefs: [{kind: ListenerSet, name: tls-only}]
  rules: [{backendRefs: [{name: v1, port: 80}]}]
---
kind: HTTPRoute
metadata: {name: solver, namespace: ns, creationTimestamp: '2026-01-02T00:00:00Z'}
spec:
  parentRefs: [{name: edge, sectionName: http}]
  hostnames: [a.test]
  rules:
    - matches: [{path: {type: Exact, value: ${challenge}}}]
      backendRefs: [{name: v1, port: 80}]
`);
    const waiting = steps.look();
    expect(conditionsOf(waiting, 'ListenerSet', 'tls-only')).to.include(
      'ResolvedRefs False InvalidCertificateRef',
    );
    expect(ask(waiting, `http://a.test${challenge}`).route).to.match(/^HTTPRoute\/ns\/solver@/);
    expect(ask(waiting, 'https://a.test/')).to.have.property('problem');
    steps.put(`
kind: Secret
metadata: {name: a-test, namespace: ns}
type: kubernetes.io/tls
stringData: {tls.crt: CERT names=a.test pair=1, tls.key: KEY pair=1}
`);
    steps.remove('HTTPRoute/solver');
    const healed = steps.look();
    expect(conditionsOf(healed, 'ListenerSet', 'tls-only')).to.include('Programmed True Programmed');
    expect(ask(healed, 'https://a.test/').route).to.match(/^HTTPRoute\/ns\/app@/);
    expect(ask(healed, `http://a.test${challenge}`).route).to.match(/^HTTPRoute\/ns\/redirect@/);
  });

  it('invariant 5: one bad object never stops another from being served', () => {
    const canary = `
kind: GatewayClass
metadata: {name: canary}
spec: {controllerName: trickstercache.org/gateway-controller}
---
kind: Gateway
metadata: {name: canary, namespace: canary, creationTimestamp: '2025-01-01T00:00:00Z'}
spec: {gatewayClassName: canary, listeners: [{name: http, port: 9090, protocol: HTTP}]}
---
kind: Service
metadata: {name: canary, namespace: canary}
spec: {ports: [{port: 80}]}
---
kind: HTTPRoute
metadata: {name: canary, namespace: canary}
spec:
  parentRefs: [{name: canary}]
  hostnames: [canary.test]
  rules: [{backendRefs: [{name: canary, port: 80}]}]
`;
    const own = parseAllDocuments(canary).map((one) => objectFrom(one.toJS() as Record<string, unknown>));
    const ofCanary = ({ configuration, statuses }: Translation) => ({
      routes: configuration.routes.filter(({ namespace }) => namespace === 'canary'),
      upstreams: configuration.upstreams.filter(({ key }) => key.includes('canary')),
      statuses: statuses.filter(({ object }) => object.namespace === 'canary' || object.name === 'canary'),
    });
    const alone = ofCanary(translate(settings, libraries, testInput(clusterFrom(own))));
    const changes = fc.array(arbitraryChange(), { minLength: 5, maxLength: 25 });
    fc.assert(
      fc.property(changes, (sequence) => {
        const objects = new Map(healthyCluster());
        for (const { key, object } of sequence) {
          if (object) objects.set(key, object);
          else objects.delete(key);
        }
        const all = clusterFrom([...objects.values(), ...own]);
        const translation = translate(settings, libraries, testInput(all));
        expect(ofCanary(translation)).to.deep.equal(alone);
        expect(ask(translation, 'http://canary.test:9090/').outcome).to.equal('found');
      }),
      { numRuns: 30 },
    );
  });

  const restrictions: readonly (readonly [string, string])[] = [
    [
      'a filter of another kind',
      'filters: [{type: ExtensionRef, extensionRef: {group: x.test, kind: Waf, name: w}}]',
    ],
    ['a filter of a newer version', 'filters: [{type: Captcha}]'],
    ['a filter of the backend', 'backendRefs: [{name: v1, port: 80, filters: [{type: Captcha}]}]'],
    ['external authorization without settings', 'filters: [{type: ExternalAuth}]'],
    [
      'external authorization of another protocol',
      'filters: [{type: ExternalAuth, externalAuth: {protocol: SOAP, backendRef: {name: v1, port: 80}}}]',
    ],
    [
      'a pattern that is no RE2',
      "matches: [{path: {value: /admin}, headers: [{name: a, type: RegularExpression, value: '(?=x)'}]}]",
    ],
    ['a match of a newer version', 'matches: [{path: {type: Glob, value: /admin*}}]'],
    ['session persistence of a newer version', 'sessionPersistence: {type: Fingerprint}'],
  ];
  for (const [title, text] of restrictions) {
    it(`invariant 6: ${title} that cannot be honoured answers 500 and never falls through`, () => {
      const steps = new Steps(BASE);
      const matches = text.startsWith('matches') ? '' : 'matches: [{path: {value: /admin}}]\n      ';
      const backends = text.startsWith('backendRefs') ? '' : 'backendRefs: [{name: v1, port: 80}]\n      ';
      steps.put(`
kind: HTTPRoute
metadata: {name: r, namespace: ns}
spec:
  parentRefs: [{name: edge}]
  rules:
    - ${matches}${backends}${text}
    - backendRefs: [{name: v1, port: 80}]
`);
      const translation = steps.look();
      const asked = ask(translation, 'http://a.test/admin/x', ['a: b']);
      expect(asked).to.include({ outcome: 'found', rule: 0 });
      const rule = translation.configuration.routes[0]?.rules[0];
      expect(rule?.refusal?.status).to.equal(500);
      expect(rule?.backends).to.deep.equal([]);
      expect(conditionsOf(translation, 'HTTPRoute', 'r')).to.include(
        'PartiallyInvalid True UnsupportedValue',
      );
    });
  }

  it('invariant 6: external authorization by a service that cannot be found denies', () => {
    const steps = new Steps(BASE);
    steps.put(`
kind: HTTPRoute
metadata: {name: r, namespace: ns}
spec:
  parentRefs: [{name: edge}]
  rules:
    - backendRefs: [{name: v1, port: 80}]
      filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {name: ghost, port: 80}}}]
`);
    const [filter] = steps.look().configuration.routes[0]?.rules[0]?.filters ?? [];
    expect(filter).to.include({ type: 'external-auth' });
    expect(filter).to.not.have.property('upstream');
  });
});
