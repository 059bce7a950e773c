import { expect } from 'chai';

import type { ProxyConfiguration } from '../../../src/ir/proxy-configuration.js';
import { EMPTY_CONFIGURATION } from '../../../src/ir/proxy-configuration.js';
import { HttpEndpoint } from '../../../src/management/http-endpoint.js';
import { managementHandlers } from '../../../src/management/management-handlers.js';
import { Readiness } from '../../../src/management/readiness.js';
import { SecretBytes } from '../../../src/util/secret-bytes.js';

describe('management port', () => {
  let endpoint: HttpEndpoint;
  let readiness: Readiness;
  let configuration: ProxyConfiguration | undefined;
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${String(endpoint.port)}${path}`, init);

  beforeEach(async () => {
    readiness = new Readiness();
    configuration = undefined;
    endpoint = await HttpEndpoint.listen({
      address: '127.0.0.1',
      port: 0,
      handlers: {
        ...managementHandlers({
          readiness,
          configuration: () => configuration,
          statuses: () => [],
          problems: () => ['a.yaml:1: bad'],
          explain: ({ url }) => configuration && { path: url.pathname },
        }),
        '/fails': () => {
          throw new Error('broken view');
        },
      },
    });
  });

  afterEach(() => endpoint.close());

  it('is alive before it is ready', async () => {
    expect((await get('/trickster/ping')).status).to.equal(200);
    const response = await get('/trickster/ready');
    expect([response.status, await response.text()]).to.deep.equal([503, 'not programmed\n']);
  });

  it('D-01 is ready once a configuration is served and never again after draining began', async () => {
    readiness.programmed();
    expect((await get('/trickster/ready')).status).to.equal(200);
    readiness.draining();
    readiness.programmed();
    const response = await get('/trickster/ready');
    expect([response.status, await response.text()]).to.deep.equal([503, 'draining\n']);
    expect((await get('/trickster/ping')).status).to.equal(200);
  });

  it('invariant 9: shows the configuration without private keys', async () => {
    expect((await get('/trickster/config')).status).to.equal(503);
    configuration = {
      ...EMPTY_CONFIGURATION,
      certificates: [{ key: 'Secret/a/b', chain: 'PEM', privateKey: new SecretBytes('KEY') }],
    };
    expect(await (await get('/trickster/config')).json())
      .to.have.property('certificates')
      .deep.equal([{ key: 'Secret/a/b', chain: 'PEM', privateKey: 'redacted' }]);
  });

  it('answers what it does not know with what it does', async () => {
    const response = await get('/trickster');
    expect(response.status).to.equal(404);
    expect(await response.text()).to.include('/trickster/ready');
    expect((await get('/trickster/ping', { method: 'POST' })).status).to.equal(405);
    expect((await get('/fails')).status).to.equal(500);
    expect(await (await get('/trickster/problems')).json()).to.deep.equal(['a.yaml:1: bad']);
  });

  it('explains a request once there is a configuration', async () => {
    expect((await get('/trickster/explain?url=http://a/b')).status).to.equal(503);
    configuration = EMPTY_CONFIGURATION;
    expect((await get('/trickster/explain?url=nothing')).status).to.equal(400);
    expect(await (await get('/trickster/explain?url=http://a/b')).json()).to.deep.equal({ path: '/b' });
  });

  it('says which port it could not have', async () => {
    const again = HttpEndpoint.listen({ address: '127.0.0.1', port: endpoint.port, handlers: {} });
    const fault: unknown = await again.catch((error: unknown) => error);
    expect(fault).to.have.property('code', 'ERR_ENVIRONMENT');
    expect(fault)
      .to.have.property('message')
      .that.includes(`127.0.0.1:${String(endpoint.port)}`);
  });
});
