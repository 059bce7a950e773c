import { expect } from 'chai';

import { profilesFor, readSettings } from './settings.js';

describe('settings of a conformance run', () => {
  it('takes the profiles that are named, in the short form too', () => {
    expect(readSettings({ PROFILES: 'HTTP,GATEWAY-GRPC' }).profiles).to.deep.equal([
      'GATEWAY-HTTP',
      'GATEWAY-GRPC',
    ]);
    expect(() => readSettings({ PROFILES: 'HTPP' })).to.throw('unknown profiles GATEWAY-HTPP');
  });

  it('leaves the profiles to what the product supports', () => {
    expect(readSettings({}).profiles).to.equal(undefined);
    expect(profilesFor(['Gateway', 'GRPCRoute', 'HTTPRoute', 'HTTPRouteCORS'])).to.deep.equal([
      'GATEWAY-HTTP',
      'GATEWAY-GRPC',
    ]);
    expect(profilesFor(['HTTPRoute', 'TCPRoute'])).to.deep.equal(['GATEWAY-HTTP', 'GATEWAY-TCP']);
  });

  it('refuses a number of parallel tests that is none', () => {
    expect(readSettings({ PARALLEL: '4' }).parallel).to.equal(4);
    expect(() => readSettings({ PARALLEL: '0' })).to.throw('PARALLEL');
  });
});
