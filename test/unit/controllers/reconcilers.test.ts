import { expect } from 'chai';
import { Container } from 'inversify';
import { map, NEVER, startWith } from 'rxjs';

import { RECONCILERS } from '../../../controllers/reconcilers.js';
import { KINDS, type Kind } from '../../../src/apis/kinds.js';
import type { ObjectsByKind } from '../../../src/apis/objects.js';
import { parseObject } from '../../../src/apis/validate.js';
import { followOurs } from '../../../controllers/follow-ours.js';
import type { ResourceSnapshot, ResourceSource } from '../../../src/kube/resource-source.js';
import { TOKENS } from '../../../src/tokens.js';
import { marbles } from '../../support/marbles.js';

const CONTROLLER = 'trickstercache.org/gateway-controller';
const GATEWAY = 'gateway.networking.k8s.io';

function parse<K extends Kind>(kind: K, fields: object, name = 'x'): ObjectsByKind[K] {
  const namespaced = KINDS.find((description) => description.kind === kind)?.namespaced === true;
  const parsed = parseObject(kind, {
    metadata: { name, ...(namespaced ? { namespace: 'ns' } : {}) },
    ...fields,
  });
  if ('object' in parsed) return parsed.object;
  throw new Error(JSON.stringify(parsed.problems));
}

/** Names of what the reconciler of a kind keeps, in the container that the operator builds. */
function kept<K extends Kind>(kind: K, objects: readonly ObjectsByKind[K][]): readonly string[] {
  const container = new Container();
  container.bind<string>(TOKENS.ControllerName).toConstantValue(CONTROLLER);
  const source: ResourceSource<ObjectsByKind[K]> = {
    kind,
    snapshots$: NEVER.pipe(startWith(new Map(objects.map((object) => [object.metadata.name, object])))),
  };
  container.bind<ResourceSource<ObjectsByKind[K]>>(TOKENS.sources[kind]).toConstantValue(source);
  container.bind<ResourceSource>(TOKENS.Reconciler).to(RECONCILERS[kind]);
  const reconciler = container.get<ResourceSource>(TOKENS.Reconciler);
  expect(reconciler.kind).to.equal(kind);
  let names: readonly string[] = [];
  reconciler.snapshots$
    .subscribe({
      next: (snapshot) => {
        names = [...snapshot.keys()];
      },
      error: (error: unknown) => {
        throw error;
      },
    })
    .unsubscribe();
  return names;
}

describe('controllers', () => {
  it('has a reconciler and a source for every kind', () => {
    const kinds = KINDS.map(({ kind }) => kind).sort();
    expect(Object.keys(RECONCILERS).sort()).to.deep.equal(kinds);
    expect(Object.keys(TOKENS.sources).sort()).to.deep.equal(kinds);
  });

  for (const { kind } of KINDS) {
    it(`builds the reconciler of ${kind} from the container, empty while there is nothing`, () => {
      expect(kept(kind, [])).to.deep.equal([]);
    });
  }

  it('E-04 keeps the GatewayClasses of this controller only', () => {
    const classes = [CONTROLLER, 'example.net/other'].map((controllerName, index) =>
      parse('GatewayClass', { spec: { controllerName } }, `c${index}`),
    );
    expect(kept('GatewayClass', classes)).to.deep.equal(['c0']);
  });

  for (const kind of ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const) {
    it(`keeps ${kind}s that attach to a Gateway or a ListenerSet, not those of a mesh`, () => {
      const spec = (parentRefs: readonly object[]): object => ({
        spec: { parentRefs, rules: [{ backendRefs: [{ name: 'v1', port: 80 }] }], hostnames: ['a.test'] },
      });
      const routes = [
        parse(kind, spec([{ name: 'edge' }]), 'gateway'),
        parse(kind, spec([{ name: 'set', kind: 'ListenerSet', group: GATEWAY }]), 'set'),
        parse(kind, spec([{ name: 'svc', kind: 'Service', group: '' }]), 'mesh'),
        parse(kind, spec([{ name: 'svc', kind: 'Service', group: '' }, { name: 'edge' }]), 'both'),
        parse(kind, spec([]), 'none'),
      ];
      expect(kept(kind, routes)).to.deep.equal(['gateway', 'set', 'both']);
    });
  }

  it('keeps grants for referrers that it knows', () => {
    const grant = (group: string, name: string) =>
      parse(
        'ReferenceGrant',
        { spec: { from: [{ group, kind: 'K', namespace: 'a' }], to: [{ group: '', kind: 'Service' }] } },
        name,
      );
    const grants = [
      grant(GATEWAY, 'gateway'),
      grant('example.net', 'other'),
      grant('trickstercache.org', 'policy'),
    ];
    expect(kept('ReferenceGrant', grants)).to.deep.equal(['gateway', 'policy']);
  });

  it('keeps EndpointSlices of Services', () => {
    const slice = (labels: object, name: string) =>
      parse('EndpointSlice', {
        metadata: { name, namespace: 'ns', labels },
        addressType: 'IPv4',
        endpoints: [],
        ports: [],
      });
    const slices = [slice({ 'kubernetes.io/service-name': 'v1' }, 'of-service'), slice({}, 'by-hand')];
    expect(kept('EndpointSlice', slices)).to.deep.equal(['of-service']);
  });

  it('keeps everything of the kinds whose owner another object names', () => {
    expect(kept('Namespace', [parse('Namespace', {})])).to.deep.equal(['x']);
    expect(kept('ConfigMap', [parse('ConfigMap', { data: {} })])).to.deep.equal(['x']);
    expect(kept('Secret', [parse('Secret', {})])).to.deep.equal(['x']);
  });

  it(
    'shares one subscription of its source and gives its state to those who come later',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const one = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } };
      const source = hot<ResourceSnapshot>('-a--b--', {
        a: new Map([['a', one]]),
        b: new Map([
          ['a', one],
          ['b', one],
        ]),
      });
      const ours$ = followOurs({ kind: 'Service', snapshots$: source }, () => true).pipe(
        map(({ size }) => String(size)),
      );
      expectObservable(ours$, '  ^----!').toBe('-1--2');
      expectObservable(ours$, '  --^---!').toBe('--1-2');
      expectSubscriptions(source.subscriptions).toBe('^-----!');
    }),
  );
});
