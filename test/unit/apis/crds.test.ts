import { readdirSync, readFileSync } from 'node:fs';

import type { TSchema } from '@sinclair/typebox';
import { expect } from 'chai';
import { parse } from 'yaml';

import { customResourceDefinitions } from '../../../hack/crds/custom-resource-definitions.js';
import { toOpenApi } from '../../../hack/crds/open-api.js';
import type { Kind } from '../../../src/apis/kinds.js';
import { SCHEMAS } from '../../../src/apis/validate.js';
import { propertyOf } from '../../../src/apis/validation/schema-node.js';
import { problemsOf } from '../../support/apis.js';
import { celViolations } from '../../support/cel-rules.js';

const folder = new URL('../../../crds/', import.meta.url);

describe('CRDs of our own kinds', () => {
  const generated = customResourceDefinitions();

  it('are what the schemas say (npx tsx hack/generate-crds.ts writes them)', () => {
    expect(readdirSync(folder).sort()).to.deep.equal([...generated.keys()].sort());
    for (const [name, text] of generated)
      expect(readFileSync(new URL(name, folder), 'utf8'), name).to.equal(text);
  });

  it('have names, columns and a status', () => {
    const policy: unknown = parse(generated.get('trickstercachepolicies.trickstercache.org.yaml') ?? '');
    expect(policy).to.have.nested.property('spec.names.shortNames').that.deep.equals(['tcpol']);
    expect(policy).to.have.nested.property('spec.versions[0].subresources.status');
    expect(policy)
      .to.have.nested.property('spec.versions[0].additionalPrinterColumns')
      .that.satisfies(
        (columns: readonly { name: string }[]) =>
          columns.map(({ name }) => name).join() === 'Provider,Cache,Age',
      );
  });
});

describe('CEL rules of our CRDs', () => {
  const cases: readonly { kind: Kind; name: string; spec: string; violated: boolean }[] = [
    {
      kind: 'AddressPool',
      name: 'everything',
      spec: '{addresses: [10.0.0.0/8, 10.0.0.1, 10.0.0.1-10.0.0.2, "fd00::/64"]}',
      violated: false,
    },
    { kind: 'AddressPool', name: 'bad prefix', spec: '{addresses: [10.0.0.0/33]}', violated: true },
    { kind: 'AddressPool', name: 'two families', spec: '{addresses: ["10.0.0.1-fd00::1"]}', violated: true },
    { kind: 'AddressPool', name: 'no address', spec: '{addresses: [ten]}', violated: true },
    ...(
      [
        [
          'right',
          '{targetRefs: [{kind: HTTPRoute, name: a, sectionName: x}, {kind: HTTPRoute, name: a}], requestHeaders: {"+X-A": b, "-Y": ""}}',
          false,
        ],
        [
          'own group',
          '{targetRefs: [{kind: Gateway, group: gateway.networking.k8s.io, name: a}, {kind: Ingress, group: networking.k8s.io, name: a}, {kind: Service, group: "", name: a}]}',
          false,
        ],
        ['foreign group', '{targetRefs: [{kind: Gateway, group: "", name: a}]}', true],
        ['foreign kind', '{targetRefs: [{kind: Pod, name: a}]}', true],
        ['section of a Gateway', '{targetRefs: [{kind: Gateway, name: a, sectionName: b}]}', true],
        [
          'target twice',
          '{targetRefs: [{kind: Service, name: a, sectionName: b}, {kind: Service, name: a, sectionName: b}]}',
          true,
        ],
        ['header name', '{targetRefs: [{kind: Service, name: a}], responseHeaders: {"a b": c}}', true],
        ['header name in CORS', '{targetRefs: [{kind: Service, name: a}], cors: {headers: {"a:": c}}}', true],
      ] as const
    ).map(([name, spec, violated]) => ({ kind: 'TricksterCachePolicy' as const, name, spec, violated })),
  ];
  for (const { kind, name, spec, violated } of cases) {
    it(`say of ${kind} (${name}) what the file source says`, () => {
      const schema: TSchema = SCHEMAS[kind];
      const node = propertyOf(schema, 'spec');
      const violations = node ? celViolations(toOpenApi(node), parse(spec)) : ['no schema'];
      expect(violations.length > 0, violations.join()).to.equal(violated);
      expect(problemsOf(kind, `spec: ${spec}`).length > 0).to.equal(violated);
    });
  }
});
