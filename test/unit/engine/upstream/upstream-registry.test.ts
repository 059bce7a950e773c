import { expect } from 'chai';
import type { Certificate } from '../../../../src/ir/tls.js';
import type { Endpoint, Upstream } from '../../../../src/ir/upstream.js';
import { TestAuthority } from '../../../support/certificates.js';
import { SecretBytes } from '../../../../src/util/secret-bytes.js';
import { isUnavailable, type EndpointConnector } from '../../../../src/engine/exchange/upstream.js';
import { UpstreamRegistry } from '../../../../src/engine/upstream/upstream-registry.js';
import { SecureContexts } from '../../../../src/engine/wire/tls/secure-contexts.js';
import type { ClientTlsOptions } from '../../../../src/engine/wire/wire.js';

class FakeConnector implements EndpointConnector {
  readonly active = 0;
  state = 'open';

  constructor(
    readonly endpoint: Endpoint,
    readonly tls: ClientTlsOptions | undefined,
  ) {}

  open(): never {
    throw new Error('not asked');
  }

  retire(): void {
    this.state = 'retired';
  }

  close(): void {
    this.state = 'closed';
  }
}

describe('UpstreamRegistry', () => {
  let made: FakeConnector[];
  let registry: UpstreamRegistry;

  beforeEach(() => {
    made = [];
    registry = new UpstreamRegistry(new SecureContexts(), (_upstream, endpoint, tls) => {
      const connector = new FakeConnector(endpoint, tls);
      made.push(connector);
      return connector;
    });
  });

  const upstream = (ports: readonly number[], extra: Partial<Upstream> = {}): Upstream => ({
    key: 'u',
    protocol: 'http',
    endpoints: ports.map((port) => ({ address: '10.0.0.1', port })),
    loadBalancing: 'rr',
    connectTimeoutMs: 1000,
    ...extra,
  });

  function apply(value: Upstream, certificates: readonly Certificate[] = []): void {
    registry.apply([value], new Map(certificates.map((certificate) => [certificate.key, certificate])));
  }

  function ports(count: number, preferred?: string, avoided?: Endpoint): (number | string)[] {
    return Array.from({ length: count }, () => {
      const choice = registry.get('u')!.choose(preferred, avoided);
      return isUnavailable(choice) ? `${String(choice.status)} ${choice.reason}` : choice.endpoint.port;
    });
  }

  it('takes endpoints in turn, prefers and avoids as asked', () => {
    apply(upstream([1, 2, 3]));
    expect(ports(4)).to.deep.equal([1, 2, 3, 1]);
    expect(ports(2, '10.0.0.1:3')).to.deep.equal([3, 3]);
    expect(ports(1, '10.0.0.1:9')).to.deep.equal([2]);
    expect(new Set(ports(6, undefined, made[2]!.endpoint))).to.deep.equal(new Set([1, 2]));
    apply(upstream([1]));
    expect(ports(1, undefined, made[0]!.endpoint)).to.deep.equal([1]);
  });

  it('keeps the target and the connectors of endpoints that stay', () => {
    apply(upstream([1, 2]));
    const target = registry.get('u');
    apply(upstream([2, 3]));
    expect(registry.get('u')).to.equal(target);
    expect(made.map(({ endpoint, state }) => [endpoint.port, state])).to.deep.equal([
      [1, 'retired'],
      [2, 'open'],
      [3, 'open'],
    ]);
    expect(ports(2).sort()).to.deep.equal([2, 3]);
  });

  it('does nothing for the same object', () => {
    const same = upstream([1]);
    apply(same);
    apply(same);
    expect(made).to.have.length(1);
  });

  it('connects anew when protocol, TLS or connect timeout change', () => {
    apply(upstream([1]));
    apply(upstream([1], { connectTimeoutMs: 5 }));
    apply(upstream([1], { protocol: 'h2c', connectTimeoutMs: 5 }));
    const tls = { serverName: 'a.test', subjectAltNames: [] };
    apply(upstream([1], { protocol: 'h2c', connectTimeoutMs: 5, tls }));
    expect(made.map(({ state }) => state)).to.deep.equal(['retired', 'retired', 'retired', 'open']);
    expect(made[3]!.tls).to.include({ serverName: 'a.test' });
    expect(made[3]!.tls?.alpn).to.deep.equal(['h2']);
    apply(upstream([1, 2], { protocol: 'h2c', connectTimeoutMs: 5, tls: { ...tls } }));
    expect(made[3]!.state).to.equal('open');
  });

  it('P-03 drops what was verified by another CA, and verifies by the new one', () => {
    const [one, two] = [new TestAuthority(), new TestAuthority()];
    const trusting = (authority: TestAuthority): Partial<Upstream> => ({
      tls: { serverName: 'a.test', subjectAltNames: [], caBundle: authority.certificate },
    });
    apply(upstream([1, 2], trusting(one)));
    apply(upstream([1, 2], trusting(two)));
    expect(made.map(({ state }) => state)).to.deep.equal(['retired', 'retired', 'open', 'open']);
    // Sessions are resumed within a context only, so none of the old CA's is.
    expect(made[2]!.tls?.context).to.not.equal(made[0]!.tls?.context);
    apply(upstream([2], trusting(two)));
    expect(made[3]!.state).to.equal('open');
    expect(made).to.have.length(4);
  });

  it('has no endpoint, or refuses, or cannot make TLS: nothing is sent', () => {
    apply(upstream([]));
    expect(ports(1)).to.deep.equal(['503 the upstream has no endpoint']);
    apply(upstream([1], { refusal: { status: 500, reason: 'policy' } }));
    expect(ports(1)).to.deep.equal(['500 policy']);
    const tls = { serverName: 'a.test', subjectAltNames: [], clientCertificate: 'Secret/a/b' };
    apply(upstream([1], { tls }));
    expect(ports(1)).to.deep.equal(['500 the certificate Secret/a/b is not there']);
    const bad = { key: 'Secret/a/b', chain: 'no PEM', privateKey: new SecretBytes('secret-key-text') };
    apply(upstream([1], { tls }), [bad]);
    expect(ports(1)[0]).to.match(/^500 TLS to u cannot be made/);
    expect(ports(1)[0]).not.to.contain('secret-key-text');
    apply(upstream([1]));
    expect(ports(1)).to.deep.equal([1]);
  });

  it('retires what is no longer configured, and closes', () => {
    apply(upstream([1]));
    const target = registry.get('u')!;
    registry.apply([], new Map());
    expect(registry.get('u')).to.equal(undefined);
    expect(made[0]!.state).to.equal('retired');
    expect(isUnavailable(target.choose(undefined, undefined))).to.equal(true);
    apply(upstream([1]));
    registry.close();
    expect(made[1]!.state).to.equal('closed');
  });
});
