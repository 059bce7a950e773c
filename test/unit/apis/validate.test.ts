import { expect } from 'chai';

import { KINDS } from '../../../src/apis/kinds.js';
import { parseObject } from '../../../src/apis/validate.js';
import { shareStructure } from '../../../src/util/share-structure.js';
import { objectOf, problemsOf } from '../../support/apis.js';

const metadata = { name: 'x', namespace: 'ns' };

describe('parseObject', () => {
  describe('defaults', () => {
    it('fills in what the API server would, at every depth', () => {
      const route = objectOf('HTTPRoute', 'spec: {rules: [{backendRefs: [{name: shop, port: 80}]}]}');
      expect(route.apiVersion).to.equal('gateway.networking.k8s.io/v1');
      expect(route.kind).to.equal('HTTPRoute');
      expect(route.spec.rules).to.deep.equal([
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ group: '', kind: 'Service', name: 'shop', port: 80, weight: 1 }],
        },
      ]);
    });

    it('gives a route without rules the one that the API has', () => {
      const route = objectOf('HTTPRoute', 'spec: {}');
      expect(route.spec.rules).to.deep.equal([{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }]);
    });

    it('takes null for absent, as the API server does', () => {
      const slice = objectOf(
        'EndpointSlice',
        'metadata: {name: x, namespace: ns, labels: {kubernetes.io/service-name: s}}\naddressType: IPv4\nendpoints: null',
      );
      expect(slice.endpoints).to.deep.equal([]);
    });

    it('completes listeners', () => {
      const gateway = objectOf(
        'Gateway',
        'spec: {gatewayClassName: c, listeners: [{name: web, port: 80, protocol: HTTP}]}',
      );
      expect(gateway.spec.listeners[0]?.allowedRoutes).to.deep.equal({ namespaces: { from: 'Same' } });
    });
  });

  describe('objects of the API server', () => {
    it('lose what nobody reads, so that they compare equal', () => {
      const raw = (resourceVersion: string, heartbeat: string): unknown => ({
        metadata: {
          ...metadata,
          resourceVersion,
          managedFields: [{}],
          annotations: {
            'control-plane.alpha/leader': heartbeat,
            'trickstercache.org/endpoint': '127.0.0.1:1',
          },
        },
        spec: { rules: [] },
        status: { parents: [{ heartbeat }] },
      });
      const [first, second] = [
        parseObject('HTTPRoute', raw('1', 'a')),
        parseObject('HTTPRoute', raw('2', 'b')),
      ];
      expect(second).to.deep.equal(first);
      expect(first)
        .to.have.nested.property('object.metadata.annotations')
        .that.has.all.keys('trickstercache.org/endpoint');
    });

    it('may have fields and bounds of another version', () => {
      const result = parseObject('TLSRoute', { metadata, spec: { rules: [{ name: 'UPPER' }], later: 1 } });
      expect(result)
        .to.have.nested.property('object.spec')
        .that.deep.equals({
          hostnames: [],
          rules: [{ name: 'UPPER', backendRefs: [] }],
        });
    });

    it('are refused when a type is wrong, whatever the server said', () => {
      expect(parseObject('HTTPRoute', { metadata, spec: { rules: 'all' } })).to.deep.equal({
        problems: [{ path: 'spec.rules', message: 'must be a list, not "all"' }],
      });
    });

    it('may be anything at all without harm', () => {
      for (const { kind } of KINDS)
        for (const raw of [undefined, null, 5, 'x', [], {}, { metadata: [] }, { spec: 7, metadata: 7 }])
          expect(parseObject(kind, raw), `${kind} ${JSON.stringify(raw)}`).to.have.property('problems');
    });

    it('keep a key named __proto__ as data', () => {
      const data: unknown = JSON.parse('{"__proto__": "x", "a": "b"}');
      const result = parseObject('ConfigMap', { metadata, data });
      expect('object' in result && Object.keys(result.object.data ?? {})).to.deep.equal(['__proto__', 'a']);
    });

    it('never have unchecked values under keys with line breaks', () => {
      expect(parseObject('ConfigMap', { metadata, data: { 'a\nb': 5 } })).to.have.property('problems');
    });
  });

  describe('objects of files', () => {
    const cases: readonly { name: string; yaml: string; want: readonly string[] }[] = [
      {
        name: 'unknown field with a suggestion',
        yaml: 'spec: {hostname: [a.test]}',
        want: ['spec.hostname is not a known field, did you mean "hostnames"?'],
      },
      {
        name: 'unknown field without one',
        yaml: 'spec: {zzzzzzzz: 1}',
        want: ['spec.zzzzzzzz is not a known field'],
      },
      {
        name: 'missing field with its values',
        yaml: 'spec: {rules: [{filters: [{}]}]}',
        want: [
          'spec.rules[0].filters[0].type is required: one of RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, RequestRedirect, URLRewrite, ExtensionRef, CORS, ExternalAuth',
        ],
      },
      {
        name: 'a number where text is needed',
        yaml: 'spec: {rules: [{matches: [{headers: [{name: a, value: 5}]}]}]}',
        want: [
          'spec.rules[0].matches[0].headers[0].value must be visible ASCII, words separated by one space or tab, not 5 (put it in quotes)',
        ],
      },
      {
        name: 'a value that is not of an enum',
        yaml: 'spec: {rules: [{matches: [{method: FETCH}]}]}',
        want: [
          'spec.rules[0].matches[0].method must be one of GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH, not "FETCH"',
        ],
      },
      {
        name: 'a number out of bounds',
        yaml: 'spec: {rules: [{backendRefs: [{name: a, port: 70000}]}]}',
        want: ['spec.rules[0].backendRefs[0].port must be from 1 to 65535, not 70000'],
      },
      {
        name: 'a bad duration',
        yaml: 'spec: {rules: [{timeouts: {request: 10}}]}',
        want: [
          'spec.rules[0].timeouts.request must be a duration such as "500ms", "10s" or "1h30m", not 10 (put it in quotes)',
        ],
      },
      {
        name: 'too many elements',
        yaml: `spec: {hostnames: [${Array.from({ length: 17 }, (_, i) => `h${String(i)}.test`).join(',')}]}`,
        want: ['spec.hostnames must have at most 16 elements'],
      },
      {
        name: 'too few elements',
        yaml: 'spec: {rules: []}',
        want: ['spec.rules must have at least 1 element'],
      },
      {
        name: 'a repeated key of a list',
        yaml: 'spec: {rules: [{matches: [{headers: [{name: a, value: b}, {name: a, value: c}]}]}]}',
        want: ['spec.rules[0].matches[0].headers[1] must differ from element 0 in name'],
      },
      {
        name: 'several problems at once',
        yaml: 'spec: {hostnames: [UPPER], rules: [{nmae: x, backendRefs: [{port: 80}]}]}',
        want: [
          'spec.rules[0].nmae is not a known field, did you mean "name"?',
          'spec.hostnames[0] must be a lower-case DNS name such as "shop.example.com" or "*.example.com", not "UPPER"',
          'spec.rules[0].backendRefs[0].name is required',
        ],
      },
    ];
    for (const { name, yaml, want } of cases) {
      it(name, () => {
        expect(problemsOf('HTTPRoute', yaml)).to.deep.equal(want);
      });
    }

    it('may carry what the API server adds', () => {
      const yaml =
        'metadata: {name: x, namespace: ns, resourceVersion: "7", managedFields: [], ownerReferences: []}\nspec: {}\nstatus: {parents: []}';
      expect(problemsOf('HTTPRoute', yaml)).to.deep.equal([]);
    });

    it('never show a value of a Secret', () => {
      const problems = problemsOf('Secret', 'data: {a: 12345, b: "not base64!"}');
      expect(problems).to.deep.equal(['data.a must be a text, not a number (put it in quotes)']);
      expect(problemsOf('Secret', 'data: {b: "hunter2!"}').join()).to.not.contain('hunter2');
    });

    it('take no time for a long value that matches no pattern', () => {
      const long = 'a'.repeat(50_000);
      const started = performance.now();
      problemsOf(
        'HTTPRoute',
        `spec: {hostnames: ["${long}_"], rules: [{matches: [{headers: [{name: a, value: "${long}é"}]}]}]}`,
      );
      expect(performance.now() - started).to.be.lessThan(1_000);
    });
  });

  it('gives results whose equal parts can be shared', () => {
    const raw = { metadata, spec: { rules: [{ name: 'a' }, { name: 'b' }] } };
    const [first, second] = [parseObject('HTTPRoute', raw), parseObject('HTTPRoute', structuredClone(raw))];
    expect(shareStructure(first, second)).to.equal(first);
  });
});
