import { expect } from 'chai';

import { formatProblem } from '../../../src/files/file-problem.js';
import { readFiles } from '../../../src/files/file-source.js';
import type { FilesState } from '../../../src/files/fold-files.js';
import { TemporaryDirectory } from '../../support/temporary-directory.js';

const ROUTE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: cart
  namespace: shop
spec:
  rules:
    - backendRefs:
        - name: cart
          port: 80
`;

describe('readFiles', () => {
  let directory: TemporaryDirectory;

  beforeEach(() => {
    directory = new TemporaryDirectory();
  });

  afterEach(() => {
    directory.remove();
  });

  /** Problems with paths relative to the directory. */
  const problems = (state: FilesState): readonly string[] =>
    state.problems.map((problem) => formatProblem(problem).replace(`${directory.path}/`, ''));

  const read = (text: string, name = 'a.yaml'): FilesState => {
    directory.write(name, text);
    return readFiles([directory.path]);
  };

  it('reads YAML and JSON, several documents a file, in all directories below', () => {
    directory.write('a.yaml', `${ROUTE}---\n${ROUTE.replaceAll('cart', 'pay')}---\n# nothing\n---\n`);
    directory.write('deep/er/b.yml', ROUTE.replaceAll('cart', 'faq'));
    directory.write(
      'c.json',
      '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}]}',
    );
    directory.write('d.txt', 'no object');
    directory.write('.hidden.yaml', 'kind: [');
    directory.write('.git/x.yaml', 'kind: [');
    const state = readFiles([directory.path]);
    expect(problems(state)).to.deep.equal([]);
    expect([...state.cluster.HTTPRoute.keys()]).to.deep.equal(['shop/cart', 'shop/pay', 'shop/faq']);
    expect([...state.cluster.ConfigMap.keys()]).to.deep.equal(['default/c']);
  });

  it('reads single files and several paths', () => {
    const paths = [
      directory.write('a.yaml', ROUTE),
      directory.write('x/b.yaml', ROUTE.replaceAll('cart', 'pay')),
    ];
    expect(readFiles(paths).cluster.HTTPRoute.size).to.equal(2);
  });

  it('gives the same for any order of paths', () => {
    const paths = [directory.write('a.yaml', ROUTE), directory.write('b.yaml', ROUTE.replace('80', '81'))];
    const [forward, backward] = [readFiles(paths), readFiles([...paths].reverse())];
    expect(forward.cluster).to.deep.equal(backward.cluster);
    expect(problems(forward)).to.deep.equal(problems(backward));
  });

  it('adds what an API server would have added', () => {
    const { cluster } = read(ROUTE);
    const route = cluster.HTTPRoute.get('shop/cart');
    expect(route?.metadata).to.include({ generation: 1, creationTimestamp: '1970-01-01T00:00:00Z' });
    expect(route?.metadata.uid).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(cluster.Namespace.get('shop')?.metadata.labels).to.deep.equal({
      'kubernetes.io/metadata.name': 'shop',
    });
  });

  it('prefers a described Namespace to an implied one', () => {
    const { cluster } = read(
      `${ROUTE}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n`,
    );
    expect(cluster.Namespace.get('shop')?.metadata.labels).to.deep.equal({
      team: 'a',
      'kubernetes.io/metadata.name': 'shop',
    });
  });

  it('keeps a given creation time', () => {
    const { cluster } = read(
      ROUTE.replace('  name: cart\n', '  name: cart\n  creationTimestamp: 2020-02-03T04:05:06Z\n'),
    );
    expect(cluster.HTTPRoute.get('shop/cart')?.metadata.creationTimestamp).to.equal('2020-02-03T04:05:06Z');
  });

  it('encodes stringData of Secrets', () => {
    const { cluster } = read(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {b: AA==}\nstringData: {a: hello}\n',
    );
    expect(cluster.Secret.get('default/s')?.data).to.deep.equal({ a: 'aGVsbG8=', b: 'AA==' });
  });

  it('knows merge keys and anchors', () => {
    const { cluster } = read(
      'apiVersion: v1\nkind: List\nitems:\n  - &base {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "1"}}\n  - {<<: *base, metadata: {name: b}}\n',
    );
    expect(cluster.ConfigMap.get('default/b')?.data).to.deep.equal({ x: '1' });
  });

  describe('problems', () => {
    const cases: readonly { name: string; text: string; want: readonly string[] }[] = [
      {
        name: 'a field, with the line of its key',
        text: ROUTE.replace('port: 80', 'prot: 80'),
        want: [
          'a.yaml:10: HTTPRoute shop/cart: spec.rules[0].backendRefs[0].prot is not a known field, did you mean "port"?',
        ],
      },
      {
        name: 'a missing field, with the line of what lacks it',
        text: ROUTE.replace('        - name: cart\n          port: 80', '        - port: 80'),
        want: ['a.yaml:9: HTTPRoute shop/cart: spec.rules[0].backendRefs[0].name is required'],
      },
      {
        name: 'the third document, counted in the file',
        text: `${ROUTE}---\n\n---\n# a comment\n${ROUTE.replaceAll('cart', 'pay').replace('80', '"80"')}`,
        want: [
          'a.yaml:24: HTTPRoute shop/pay: spec.rules[0].backendRefs[0].port must be a whole number, not "80"',
        ],
      },
      {
        name: 'broken YAML beside a good document',
        text: `${ROUTE}---\nkind: [\n`,
        want: [
          'a.yaml:13: is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
        ],
      },
      {
        name: 'a list at the top',
        text: '- a\n',
        want: ['a.yaml:1: must be an object with apiVersion, kind and metadata'],
      },
      {
        name: 'no kind',
        text: 'apiVersion: v1\n',
        want: ['a.yaml:1: object: kind is required: the kind of the object, such as HTTPRoute'],
      },
      {
        name: 'no apiVersion',
        text: 'kind: HTTPRoute\n',
        want: ['a.yaml:1: HTTPRoute: apiVersion is required: gateway.networking.k8s.io/v1 for HTTPRoute'],
      },
      {
        name: 'a kind with a slip',
        text: 'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRuote\n',
        want: ['a.yaml:2: HTTPRuote: kind is unknown, did you mean "HTTPRoute"?'],
      },
      {
        name: 'a kind that the group does not have',
        text: 'apiVersion: trickstercache.org/v1alpha1\nkind: Something\n',
        want: ['a.yaml:2: Something: kind must be one of TricksterCachePolicy, AddressPool, not Something'],
      },
      {
        name: 'a version that nobody reads',
        text: 'apiVersion: gateway.networking.k8s.io/v2\nkind: Gateway\n',
        want: [
          'a.yaml:1: Gateway: apiVersion must be gateway.networking.k8s.io/v1 or gateway.networking.k8s.io/v1beta1 for Gateway, not gateway.networking.k8s.io/v2',
        ],
      },
      {
        name: 'a group with a slip',
        text: 'apiVersion: gateway.networking.k8.io/v1\nkind: Gateway\n',
        want: [
          'a.yaml:1: Gateway: apiVersion is of an unknown group, did you mean "gateway.networking.k8s.io/v1"?',
        ],
      },
      {
        name: 'other APIs are no fault',
        text: 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\napiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: i}\n',
        want: [
          'a.yaml:1: warning: Deployment d: is ignored: the kind is not read',
          'a.yaml:5: warning: Gateway i: is ignored: the kind is not read',
        ],
      },
      {
        name: 'a duplicate, in the order of files',
        text: `${ROUTE}---\n${ROUTE}`,
        want: ['a.yaml:12: HTTPRoute shop/cart: is described twice: a.yaml:1 counts, remove one of them'],
      },
      {
        name: 'a path through keys with dots',
        text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a.b: x\n  c.d: 5\n',
        want: ['a.yaml:6: ConfigMap c: data["c.d"] must be a text, not 5 (put it in quotes)'],
      },
    ];
    for (const { name, text, want } of cases) {
      it(`name ${name}`, () => {
        expect(problems(read(text)).map((one) => one.replaceAll(`${directory.path}/`, ''))).to.deep.equal(
          want,
        );
      });
    }

    it('are all reported in one run, sorted', () => {
      directory.write('b.yaml', 'kind: [');
      directory.write('a.yaml', `${ROUTE.replace('cart', 'CART')}---\n${ROUTE.replace('spec', 'spce')}`);
      expect(problems(readFiles([directory.path])).map((one) => one.split(': ')[0])).to.deep.equal([
        'a.yaml:4',
        'a.yaml:17',
        'b.yaml:1',
      ]);
    });

    it('say that a path does not exist', () => {
      const state = readFiles([directory.at('nowhere')]);
      expect(problems(state)).to.deep.equal(['nowhere: does not exist: create it or correct the path']);
    });

    it('say that a file cannot be read', () => {
      directory.write('a.yaml/x.yaml', ROUTE);
      const state = readFiles([directory.path]);
      expect(state.cluster.HTTPRoute.size).to.equal(0);
    });

    it('never show what is in a Secret', () => {
      const state = read(
        'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: hunter2!, b: 123456}\nstrnigData: {c: hunter2}\n',
      );
      expect(state.problems.length).to.be.greaterThan(0);
      expect(problems(state).join()).to.not.match(/hunter2|123456/);
    });

    it('survive aliases that multiply', () => {
      const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map(
          (name, index) =>
            `${name}: &${name} [${Array(9)
              .fill(`*${'abcdefgh'[index] ?? ''}`)
              .join(',')}]`,
        )
        .join('\n')}\n`;
      expect(problems(read(bomb))[0]).to.match(/^a.yaml:1: is not valid YAML: Excessive alias count/);
    });
  });

  describe('endpoints in the annotation of a Service', () => {
    const service = (value: string, ports = '[{port: 80}]'): string =>
      `apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n    trickstercache.org/endpoint: "${value}"\nspec: {ports: ${ports}}\n`;
    const slices = (state: FilesState): readonly string[] =>
      [...state.cluster.EndpointSlice.values()].map(
        ({ metadata, addressType, endpoints, ports }) =>
          `${metadata.labels?.['kubernetes.io/service-name'] ?? ''} ${addressType} ${endpoints.flatMap(({ addresses }) => addresses).join()} ${ports.map(({ name, port }) => `${name}:${String(port)}`).join()}`,
      );

    it('become slices, one for each family and port', () => {
      const state = read(service('127.0.0.1:9000, localhost:9001 10.0.0.1:9000,[::1]:9000'));
      expect(slices(state)).to.deep.equal([
        's IPv4 127.0.0.1,10.0.0.1 :9000',
        's IPv4 127.0.0.1 :9001',
        's IPv6 ::1 :9000',
      ]);
      expect(problems(state)).to.deep.equal([]);
    });

    it('are for all ports, or for the one that is named', () => {
      const ports = '[{name: web, port: 80}, {name: api, port: 81}]';
      expect(slices(read(service('127.0.0.1:9000,api=127.0.0.1:9001', ports)))).to.deep.equal([
        's IPv4 127.0.0.1 web:9000,api:9000',
        's IPv4 127.0.0.1 api:9001',
      ]);
    });

    it('are refused one by one', () => {
      const state = read(service('example.com:80,127.0.0.1:9000,127.0.0.1,127.0.0.1:0,x=127.0.0.1:1'));
      expect(slices(state)).to.deep.equal(['s IPv4 127.0.0.1 :9000']);
      expect(problems(state).length).to.equal(4);
      expect(problems(state)[0]).to.equal(
        'a.yaml:6: Service default/s: metadata.annotations["trickstercache.org/endpoint"] must be "IP:port" or "localhost:port", several separated by commas, not "example.com:80"',
      );
    });

    it('are no endpoints when there is nothing', () => {
      expect(problems(read(service('')))).to.have.length(1);
    });
  });
});
