import { expect } from 'chai';
import type { Subscription } from 'rxjs';

import { decodeObject } from '../../../src/kube/decode-object.js';
import { Discovery } from '../../../src/kube/discovery.js';
import type { HttpKubeClient } from '../../../src/kube/http-kube-client.js';
import { noKubeMetrics } from '../../../src/kube/kube-metrics.js';
import { KubeSources, type KubeSourcesOptions } from '../../../src/kube/kube-sources.js';
import { StatusCache } from '../../../src/kube/status-cache.js';
import type { Kind } from '../../../src/apis/kinds.js';
import { FakeApiServer } from '../../support/fake-api-server.js';
import { connect } from '../../support/kube/connect.js';
import { silentLogger } from '../../support/kube/objects.js';
import { untilTrue } from '../../support/kube/until-true.js';

const SERVICES = '/api/v1/services';
const inNamespace = (namespace: string, plural: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/${plural}/${name}`;

function service(port = 80): object {
  return { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port }], clusterIP: '10.0.0.1' } };
}

function secret(type: string): object {
  return { apiVersion: 'v1', kind: 'Secret', type, data: { x: 'eA==' } };
}

describe('kube/kube-sources', () => {
  let server: FakeApiServer;
  let client: HttpKubeClient;
  const subscriptions: Subscription[] = [];

  beforeEach(async () => {
    server = await FakeApiServer.start();
    server.served.set('v1', ['services', 'secrets', 'configmaps', 'namespaces']);
    server.served.set('discovery.k8s.io/v1', ['endpointslices']);
    server.served.set('gateway.networking.k8s.io/v1', ['gatewayclasses', 'gateways', 'httproutes']);
    client = connect(server.url);
  });

  afterEach(async () => {
    for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
    await untilTrue(() => server.watching === 0, 'the end of all watches');
    await client.close();
    await server.stop();
  });

  function open(options: Partial<KubeSourcesOptions> = {}) {
    const discovery = new Discovery({ client, logger: silentLogger, intervalMs: 30 });
    const statuses = new StatusCache('example.test/controller');
    const sources = new KubeSources({
      client,
      discovery,
      decode: decodeObject,
      scope: { mode: 'all' },
      statuses,
      metrics: noKubeMetrics,
      logger: silentLogger,
      backoff: { initialMs: 4, maxMs: 20 },
      ...options,
    });
    return { sources, statuses };
  }

  /** Keys of the newest snapshot of a kind, sorted. */
  function follow(sources: KubeSources, kind: Kind) {
    const seen: { keys: string | undefined; snapshots: ReadonlyMap<string, unknown>[] } = {
      keys: undefined,
      snapshots: [],
    };
    subscriptions.push(
      sources.source(kind).snapshots$.subscribe({
        next: (snapshot) => {
          seen.keys = [...snapshot.keys()].sort().join(' ');
          seen.snapshots.push(snapshot);
        },
        error: (error: unknown) => {
          seen.keys = String(error);
        },
      }),
    );
    return seen;
  }

  it('reads all pages before it says anything, then follows changes', async () => {
    for (let index = 0; index < 501; index += 1)
      server.put(inNamespace('ns', 'services', `s${index}`), service());
    const seen = follow(open().sources, 'Service');
    await untilTrue(() => seen.keys !== undefined, 'the first snapshot');
    expect(seen.snapshots[0]?.size).to.equal(501);
    expect(server.count('GET', SERVICES)).to.be.greaterThan(1);
    server.remove(inNamespace('ns', 'services', 's7'));
    await untilTrue(() => seen.snapshots.at(-1)?.size === 500, 'the deletion');
  });

  it('begins again without pages when a continue token has expired', async () => {
    for (let index = 0; index < 501; index += 1)
      server.put(inNamespace('ns', 'services', `s${index}`), service());
    server.plan(({ query }) => query.has('continue'), { status: 410 });
    const seen = follow(open().sources, 'Service');
    await untilTrue(() => seen.snapshots.at(0)?.size === 501, 'the whole list');
  });

  it('loses no deletion through resets, expired versions, refusals and garbage', async () => {
    const { sources } = open();
    const seen = follow(sources, 'Service');
    await untilTrue(() => server.watching === 1, 'the watch');
    const path = (name: string): string => inNamespace('ns', 'services', name);
    const isWatch = ({ query }: { query: URLSearchParams }): boolean => query.has('watch');

    server.put(path('a'), service());
    server.endWatches('reset');
    server.put(path('b'), service());
    await untilTrue(() => seen.keys === 'ns/a ns/b', 'both after a reset');

    server.plan(isWatch, { status: 500 });
    server.endWatches('reset');
    server.remove(path('a'));
    server.compact();
    await untilTrue(() => seen.keys === 'ns/b', 'the deletion after a relist');

    server.plan(isWatch, { garbage: '{"type":"ADD\n' });
    server.endWatches('end');
    server.put(path('c'), service());
    await untilTrue(() => seen.keys === 'ns/b ns/c', 'the object after garbage');
  });

  it('does not wait on when others are answered again', async () => {
    server.put(inNamespace('ns', 'services', 'a'), service());
    server.plan(({ path }) => path === SERVICES, { reset: true });
    const { sources } = open({ backoff: { initialMs: 60_000, maxMs: 60_000 } });
    const seen = follow(sources, 'Service');
    await untilTrue(() => seen.keys === 'ns/a', 'the list behind the answers that discovery gets');
    expect(server.count('GET', SERVICES)).to.be.greaterThan(1);
  });

  it('Z-05 keeps the last snapshot while the API server is away, and says so', async () => {
    server.put(inNamespace('ns', 'services', 'a'), service());
    const { sources } = open();
    const health: string[] = [];
    subscriptions.push(
      sources.health$.subscribe({
        next: (all) => {
          for (const [id, { synced, lastError }] of all) health.push(`${id} ${synced} ${lastError ?? ''}`);
        },
        error: (error: unknown) => health.push(String(error)),
      }),
    );
    const seen = follow(sources, 'Service');
    await untilTrue(() => server.watching === 1, 'the watch');
    server.plan(({ path }) => path === SERVICES, { status: 503 }, 2);
    server.endWatches('reset');
    await untilTrue(
      () => health.some((text) => text.includes('true') && text.includes('503')),
      'the health report',
    );
    expect(seen.keys).to.equal('ns/a');
    expect(health.at(-1)).to.match(/^Service \/api\/v1\/services true /);
  });

  it('picks up a kind whose CRD appears, and empties it when the CRD goes', async () => {
    const { sources } = open();
    const seen = follow(sources, 'TCPRoute');
    await untilTrue(() => seen.keys === '', 'the empty snapshot');
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1alpha2',
      kind: 'TCPRoute',
      spec: { rules: [{ backendRefs: [{ name: 'x', port: 1 }] }] },
    };
    server.put('/apis/gateway.networking.k8s.io/v1alpha2/namespaces/ns/tcproutes/r', route);
    server.served.set('gateway.networking.k8s.io/v1alpha2', ['tcproutes']);
    await untilTrue(() => seen.keys === 'ns/r', 'the route');
    server.served.delete('gateway.networking.k8s.io/v1alpha2');
    await untilTrue(() => seen.keys === '', 'the empty snapshot again');
  });

  it('keeps an object that turns bad as it was, names the fault, and forgets it when it heals', async () => {
    const path = inNamespace('ns', 'services', 'a');
    server.put(path, service(80));
    const { sources } = open();
    let faults = '';
    subscriptions.push(
      sources.faults$.subscribe({
        next: (all) => {
          faults = all.map(({ kind, key, keptLastGood }) => `${kind} ${key} ${keptLastGood}`).join();
        },
        error: (error: unknown) => {
          faults = String(error);
        },
      }),
    );
    const seen = follow(sources, 'Service');
    await untilTrue(() => server.watching === 1, 'the watch');
    server.put(path, { ...service(), spec: { ports: 'none' } });
    await untilTrue(() => faults === 'Service ns/a true', 'the fault');
    expect(seen.snapshots.at(-1)?.get('ns/a')).to.equal(seen.snapshots[0]?.get('ns/a'));
    server.put(path, service(81));
    await untilTrue(() => faults === '', 'the end of the fault');
  });

  it('watches TLS Secrets by type and others only when they are named', async () => {
    server.put(inNamespace('ns', 'secrets', 'tls'), secret('kubernetes.io/tls'));
    server.put(inNamespace('ns', 'secrets', 'ca'), secret('Opaque'));
    const { sources } = open();
    const seen = follow(sources, 'Secret');
    await untilTrue(() => seen.keys === 'ns/tls', 'the TLS Secret');
    expect(sources.namedSecretsSettled).to.equal(true);

    sources.requestNamedSecrets(new Set(['ns/tls', 'ns/ca', 'ns/gone', 'ns/a,b']));
    expect(sources.namedSecretsSettled).to.equal(false);
    await untilTrue(() => seen.keys === 'ns/ca ns/tls' && sources.namedSecretsSettled, 'the named Secret');
    const selectors = server.requests
      .map(({ query }) => query.get('fieldSelector'))
      .filter((text) => text?.startsWith('metadata'));
    expect(new Set(selectors)).to.deep.equal(new Set(['metadata.name=ca', 'metadata.name=gone']));

    server.put(inNamespace('ns', 'secrets', 'gone'), secret('Opaque'));
    await untilTrue(() => seen.keys === 'ns/ca ns/gone ns/tls', 'the Secret that came later');
    sources.requestNamedSecrets(new Set(['ns/tls']));
    await untilTrue(() => seen.keys === 'ns/tls' && server.watching === 1, 'only the TLS Secret');
  });

  it('watches named namespaces one by one, and the published Service besides', async () => {
    server.put(inNamespace('one', 'services', 'a'), service());
    server.put(inNamespace('two', 'services', 'b'), service());
    server.put(inNamespace('three', 'services', 'c'), service());
    server.put(inNamespace('infra', 'services', 'lb'), service());
    server.put('/api/v1/namespaces/one', { apiVersion: 'v1', kind: 'Namespace' });
    const { sources } = open({
      scope: { mode: 'names', names: ['one', 'two'] },
      publishedServices: ['infra/lb'],
    });
    const services = follow(sources, 'Service');
    const namespaces = follow(sources, 'Namespace');
    await untilTrue(() => services.keys === 'infra/lb one/a two/b', 'the Services');
    await untilTrue(() => namespaces.keys === 'one', 'the namespaces');
    expect(server.count('GET', SERVICES)).to.equal(0);
  });

  it('narrows to namespaces by label, also when labels change', async () => {
    const namespace = (tier: string): object => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { labels: { tier } },
    });
    server.put('/api/v1/namespaces/one', namespace('app'));
    server.put('/api/v1/namespaces/two', namespace('infra'));
    server.put(inNamespace('one', 'services', 'a'), service());
    server.put(inNamespace('two', 'services', 'b'), service());
    const { sources } = open({
      scope: { mode: 'selector', selector: 'tier=app' },
      publishedServices: ['two/b'],
    });
    const services = follow(sources, 'Service');
    const namespaces = follow(sources, 'Namespace');
    await untilTrue(() => services.keys === 'one/a two/b' && namespaces.keys === 'one', 'what is selected');
    server.put('/api/v1/namespaces/one', namespace('infra'));
    await untilTrue(() => services.keys === 'two/b' && namespaces.keys === '', 'what is still selected');
  });

  it('remembers the statuses of the kinds that have one', async () => {
    const path = '/apis/gateway.networking.k8s.io/v1/namespaces/ns/httproutes/r';
    const status = { parents: [{ controllerName: 'example.test/controller' }] };
    server.put(path, {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      spec: { rules: [] },
      status,
    });
    const { sources, statuses } = open();
    const seen = follow(sources, 'HTTPRoute');
    await untilTrue(() => seen.keys === 'ns/r', 'the route');
    expect(statuses.get({ kind: 'HTTPRoute', key: 'ns/r' })).to.deep.include({
      uid: 'uid-r',
      generation: 1,
      status,
    });
    expect([...statuses.claimed().values()]).to.deep.equal([{ kind: 'HTTPRoute', key: 'ns/r' }]);
    server.remove(path);
    await untilTrue(() => seen.keys === '', 'the end of the route');
    expect([...statuses.claimed().values()]).to.deep.equal([]);
  });
});
