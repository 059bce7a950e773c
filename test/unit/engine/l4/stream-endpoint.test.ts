import { expect } from 'chai';

import { StreamEndpoints, type EndpointUser } from '../../../../src/engine/l4/stream-endpoint.js';
import { SecureContexts } from '../../../../src/engine/wire/tls/secure-contexts.js';
import type { ClientTlsOptions } from '../../../../src/engine/wire/wire.js';
import { streamUpstream } from '../../../support/engine/stream-lab.js';

const UPSTREAM = streamUpstream('Service/ns/a/80/relay', []);
const ENDPOINT = { address: '127.0.0.1', port: 1 };

class User implements EndpointUser {
  readonly heard: string[] = [];

  onEndpointGone(): void {
    this.heard.push('gone');
  }

  onEndpointBack(): void {
    this.heard.push('back');
  }
}

describe('StreamEndpoints', () => {
  it('N-07 an endpoint that is used comes back as the same', () => {
    const endpoints = new StreamEndpoints();
    const endpoint = endpoints.create(UPSTREAM, ENDPOINT, undefined);
    const user = new User();
    endpoint.add(user);
    endpoint.retire();
    endpoint.retire();
    expect(endpoints.create({ ...UPSTREAM, connectTimeoutMs: 5 }, { ...ENDPOINT }, undefined)).to.equal(
      endpoint,
    );
    expect(endpoint.connectTimeoutMs).to.equal(5);
    expect(user.heard).to.deep.equal(['gone', 'back']);
    endpoint.retire();
    expect(user.heard).to.deep.equal(['gone', 'back', 'gone']);
  });

  it('forgets an endpoint that nobody uses', () => {
    const endpoints = new StreamEndpoints();
    const endpoint = endpoints.create(UPSTREAM, ENDPOINT, undefined);
    const user = new User();
    endpoint.add(user);
    endpoint.retire();
    endpoint.remove(user);
    const fresh = endpoints.create(UPSTREAM, ENDPOINT, undefined);
    expect(fresh).not.to.equal(endpoint);
    fresh.retire();
    expect(endpoints.create(UPSTREAM, ENDPOINT, undefined)).not.to.equal(fresh);
  });

  it('is another one with other TLS', () => {
    const tls = (): ClientTlsOptions => ({
      context: new SecureContexts().client({}),
      serverName: 'a.test',
      alpn: [],
      sessionKey: '',
    });
    const endpoints = new StreamEndpoints();
    const endpoint = endpoints.create(UPSTREAM, ENDPOINT, tls());
    const user = new User();
    endpoint.add(user);
    endpoint.retire();
    expect(endpoints.create(UPSTREAM, ENDPOINT, tls())).not.to.equal(endpoint);
    expect(user.heard).to.deep.equal(['gone']);
  });

  it('leaves its users alone when everything is closed', () => {
    const endpoint = new StreamEndpoints().create(UPSTREAM, ENDPOINT, undefined);
    const user = new User();
    endpoint.add(user);
    endpoint.close();
    expect(user.heard).to.deep.equal([]);
  });
});
