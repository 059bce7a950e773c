import { expect } from 'chai';
import fc from 'fast-check';

import type { ReferenceGrant } from '../../../src/apis/gateway/reference-grant.js';
import { isPermitted } from '../../../src/graph/reference-grant.js';
import { objectFrom } from '../../support/translation/cluster.js';
import { isOfKind } from '../../../src/apis/objects.js';

const GROUP = 'gateway.networking.k8s.io';
const route = { group: GROUP, kind: 'HTTPRoute', namespace: 'team-a' };
const service = { group: '', kind: 'Service', namespace: 'team-b', name: 'v1' };

function grant(
  from: Partial<typeof route> = {},
  to: { readonly group?: string; readonly kind?: string; readonly name?: string } = {},
  namespace = 'team-b',
): ReferenceGrant {
  const object = objectFrom({
    kind: 'ReferenceGrant',
    metadata: { name: 'g', namespace },
    spec: { from: [{ ...route, ...from }], to: [{ group: '', kind: 'Service', ...to }] },
  });
  if (!isOfKind('ReferenceGrant', object)) throw new Error('no grant');
  return object;
}

describe('ReferenceGrant', () => {
  const cases: readonly { name: string; grants: readonly ReferenceGrant[]; permitted: boolean }[] = [
    { name: 'nothing', grants: [], permitted: false },
    { name: 'all names', grants: [grant()], permitted: true },
    { name: 'the name', grants: [grant({}, { name: 'v1' })], permitted: true },
    { name: 'another name', grants: [grant({}, { name: 'v2' })], permitted: false },
    { name: 'another group of the referrer', grants: [grant({ group: 'example.net' })], permitted: false },
    { name: 'R-03 another kind of the referrer', grants: [grant({ kind: 'GRPCRoute' })], permitted: false },
    { name: 'another namespace', grants: [grant({ namespace: 'team-c' })], permitted: false },
    { name: 'R-05 "core" for the core group', grants: [grant({}, { group: 'core' })], permitted: false },
    { name: 'another kind', grants: [grant({}, { kind: 'Secret' })], permitted: false },
    { name: 'a grant in the wrong namespace', grants: [grant({}, {}, 'team-a')], permitted: false },
  ];
  for (const { name, grants, permitted } of cases) {
    it(`${permitted ? 'permits' : 'refuses'} with ${name}`, () => {
      expect(isPermitted(route, service, grants)).to.equal(permitted);
    });
  }

  it('needs none within a namespace', () => {
    expect(isPermitted(route, { ...service, namespace: 'team-a' }, [])).to.equal(true);
  });

  it('never permits less when a grant is added', () => {
    const any = fc
      .record({
        kind: fc.constantFrom('HTTPRoute', 'GRPCRoute'),
        name: fc.constantFrom(undefined, 'v1', 'v2'),
      })
      .map(({ kind, name }) => grant({ kind }, name === undefined ? {} : { name }));
    fc.assert(
      fc.property(fc.array(any), any, (grants, extra) => {
        const before = isPermitted(route, service, grants);
        return !before || isPermitted(route, service, [...grants, extra]);
      }),
    );
  });
});
