import { expect } from 'chai';

import { KINDS, type Kind } from '../../../src/apis/kinds.js';
import { supportedFeatures } from '../../../src/graph/supported-features.js';

const every: ReadonlySet<Kind> = new Set(KINDS.map(({ kind }) => kind));

describe('supported features', () => {
  it('are sorted, each once, and no more than a status takes', () => {
    const features = supportedFeatures({ stream: true }, every);
    expect(features).to.deep.equal([...new Set(features)].sort());
    expect(features.length).to.be.at.most(64);
  });

  it('hold what needs a kind only while its CRD is there', () => {
    const features = supportedFeatures({ stream: true }, new Set<Kind>(['Gateway', 'HTTPRoute']));
    expect(features).to.include('HTTPRoute');
    expect(features).not.to.include.members(['GRPCRoute', 'ListenerSet', 'BackendTLSPolicy', 'TLSRoute']);
  });

  it('hold no stream routes while the engine cannot serve them', () => {
    const without = supportedFeatures({ stream: false }, every);
    const added = supportedFeatures({ stream: true }, every).filter((name) => !without.includes(name));
    expect(added).to.deep.equal([
      'TCPRoute',
      'TLSRoute',
      'TLSRouteModeMixed',
      'TLSRouteModeTerminate',
      'UDPRoute',
    ]);
  });

  it('name nothing that the suite does not test', () => {
    const features = supportedFeatures({ stream: true }, every);
    expect(features.filter((name) => name.startsWith('Mesh') || name.includes('Session'))).to.deep.equal([]);
  });
});
