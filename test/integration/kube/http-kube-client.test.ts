import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'chai';

import type { HttpKubeClient } from '../../../src/kube/http-kube-client.js';
import { KubeApiError } from '../../../src/kube/kube-api-error.js';
import { loadKubeConfig, ownNamespace } from '../../../src/kube/kube-config.js';
import { FakeApiServer } from '../../support/fake-api-server.js';
import { configFor, connect } from '../../support/kube/connect.js';

const THINGS = '/apis/g/v1/namespaces/ns/things';
const any = (): boolean => true;

async function failure(promise: Promise<unknown>): Promise<KubeApiError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof KubeApiError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('kube/http-kube-client', () => {
  let server: FakeApiServer;
  let client: HttpKubeClient;

  beforeEach(async () => {
    server = await FakeApiServer.start();
    client = connect(server.url);
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  function countRecoveries(): { seen: number } {
    const recoveries = { seen: 0 };
    client.recovered$.subscribe({
      next: () => (recoveries.seen += 1),
      error: () => (recoveries.seen = NaN),
    });
    return recoveries;
  }

  it('lists pages and tells what each item is', async () => {
    for (const name of ['a', 'b', 'c'])
      server.put(`${THINGS}/${name}`, { apiVersion: 'g/v1', kind: 'Thing' });
    const first = await client.list('/apis/g/v1/things', { limit: 2 });
    expect(first.items).to.have.length(2);
    expect(first.items[0]).to.deep.include({ apiVersion: 'g/v1', kind: 'Thing' });
    const { continueToken = '' } = first;
    const second = await client.list('/apis/g/v1/things', { limit: 2, continueToken });
    expect(second.items).to.have.length(1);
    expect(second.continueToken).to.equal(undefined);
    expect(second.resourceVersion).to.match(/^\d+$/);
  });

  it('selects by field and label, and says who asks', async () => {
    await client.list(THINGS, { fieldSelector: 'type=kubernetes.io/tls', labelSelector: 'tier=app' });
    const request = server.requests[0];
    expect(request?.query.get('fieldSelector')).to.equal('type=kubernetes.io/tls');
    expect(request?.query.get('labelSelector')).to.equal('tier=app');
    expect(request?.headers).to.include({
      authorization: 'Bearer first',
      'user-agent': 'trickster-gateway/test',
    });
  });

  it('watches from a version, with bookmarks, until it is aborted', async () => {
    const { metadata } = server.put(`${THINGS}/a`, { kind: 'Thing' }) as {
      metadata: { resourceVersion: string };
    };
    const abort = new AbortController();
    const query = { resourceVersion: metadata.resourceVersion, timeoutSeconds: 300 };
    const lines: string[] = [];
    const watching = (async () => {
      for await (const batch of client.watch(THINGS, query, abort.signal)) {
        lines.push(...batch);
        if (lines.length === 1) server.bookmark();
        if (lines.length === 2) abort.abort();
      }
    })();
    server.put(`${THINGS}/b`, { kind: 'Thing' });
    expect((await failure(watching)).status).to.equal(0);
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).to.deep.equal([
      'ADDED',
      'BOOKMARK',
    ]);
    expect(server.requests[0]?.query.get('allowWatchBookmarks')).to.equal('true');
  });

  it('ends a watch in order when the server does', async () => {
    const watching = (async () => {
      for await (const batch of client.watch(
        THINGS,
        { resourceVersion: '1', timeoutSeconds: 1 },
        new AbortController().signal,
      )) {
        expect(batch).to.have.length(1);
        server.endWatches();
      }
      return 'ended';
    })();
    server.put(`${THINGS}/b`, { kind: 'Thing' });
    expect(await watching).to.equal('ended');
  });

  it('says once that the API server answers again', async () => {
    const recoveries = countRecoveries();
    await client.list(THINGS, {});
    for (const fault of [{ status: 503 }, { reset: true }, { status: 403 }] as const) server.plan(any, fault);
    expect((await failure(client.list(THINGS, {}))).status).to.equal(503);
    expect((await failure(client.list(THINGS, {}))).status).to.equal(0);
    expect(recoveries.seen).to.equal(0);
    expect((await failure(client.list(THINGS, {}))).status).to.equal(403);
    await client.list(THINGS, {});
    expect(recoveries.seen).to.equal(1);
  });

  it('takes a request that was given up for nothing', async () => {
    const recoveries = countRecoveries();
    await failure(client.list(THINGS, {}, AbortSignal.abort()));
    await client.list(THINGS, {});
    expect(recoveries.seen).to.equal(0);
  });

  it('creates, reads, replaces, and patches in three ways', async () => {
    await client.create(THINGS, { kind: 'Thing', metadata: { name: 'a' }, spec: { x: 1 } });
    const read = (await client.get(`${THINGS}/a`)) as { metadata: object };
    await client.replace(`${THINGS}/a/status`, { metadata: read.metadata, status: { ok: true } });
    expect(server.read(`${THINGS}/a`)).to.deep.include({ spec: { x: 1 }, status: { ok: true } });
    await client.patch(`${THINGS}/a`, { type: 'merge', body: { spec: { x: 2 } } });
    expect(server.read(`${THINGS}/a`)).to.deep.include({ spec: { x: 2 } });
    await client.patch(`${THINGS}/a`, { type: 'json', body: [] }).catch(() => undefined);
    const body = { apiVersion: 'g/v1', kind: 'Thing', metadata: { name: 'a' } };
    await client.patch(`${THINGS}/a`, { type: 'apply', body, fieldManager: 'trickster', force: true });
    expect(
      server.requests
        .filter(({ method }) => method === 'PATCH')
        .map(({ headers }) => headers['content-type']),
    ).to.deep.equal([
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/apply-patch+yaml',
    ]);
    expect(server.requests.at(-1)?.query.toString()).to.equal('fieldManager=trickster&force=true');
  });

  it('fails with status, reason, code and the time to wait', async () => {
    const missing = await failure(client.get(`${THINGS}/nobody`));
    expect(missing).to.include({ status: 404, reason: 'NotFound', code: 'ERR_API' });
    expect(missing.message).to.equal(`GET ${THINGS}/nobody: ${THINGS}/nobody not found`);

    server.plan(any, { status: 429, retryAfter: 3 });
    expect(await failure(client.get(THINGS))).to.include({ status: 429, retryAfterMs: 3000 });
    server.plan(any, { status: 410 });
    expect(await failure(client.get(THINGS))).to.include({ status: 410, code: 'ERR_WATCH_EXPIRED' });
    server.plan(any, { status: 409 });
    expect(await failure(client.get(THINGS))).to.include({ status: 409, code: 'ERR_CONFLICT' });
  });

  it('fails with status 0 when the connection breaks or the answer is no JSON', async () => {
    server.plan(any, { reset: true });
    expect(await failure(client.get(THINGS))).to.include({ status: 0, reason: 'network' });
    server.plan(any, { body: '<html>' });
    expect(await failure(client.get(THINGS))).to.include({ status: 0 });
    server.plan(any, { body: '{"kind":"Status"}' });
    expect(await failure(client.list(THINGS, {}))).to.include({ status: 0, reason: 'malformed' });
  });

  it('takes null for no items', async () => {
    server.plan(any, { body: '{"metadata":{"resourceVersion":"7"},"items":null}' });
    expect(await client.list(THINGS, {})).to.deep.equal({ items: [], resourceVersion: '7' });
  });

  it('gives up a request that is aborted', async () => {
    server.plan(any, { hang: true });
    expect(await failure(client.get(THINGS, AbortSignal.timeout(20)))).to.include({ status: 0 });
  });

  it('Z-05 reads its configuration again when the credentials are refused', async () => {
    let token = 'old';
    let loads = 0;
    const rotating = connect(server.url, () => {
      loads += 1;
      return configFor(server.url, token);
    });
    token = 'new';
    server.plan(({ headers }) => headers.authorization === 'Bearer old', { status: 401 }, 10);
    expect((await failure(rotating.list(THINGS, {}))).status).to.equal(401);
    expect((await rotating.list(THINGS, {})).items).to.deep.equal([]);
    expect(loads).to.equal(2);
    await rotating.close();
  });

  describe('kube/kube-config', () => {
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    });

    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    it('runs exec plugins and reads token files of a kubeconfig', async () => {
      const file = join(folder, 'config');
      const credential = {
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { token: 'made' },
      };
      writeFileSync(
        file,
        JSON.stringify({
          'current-context': 'x',
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'mine' } }],
          clusters: [{ name: 'c', cluster: { server: `${server.url}/`, 'insecure-skip-tls-verify': true } }],
          users: [{ name: 'u', user: { exec: { command: 'echo', args: [JSON.stringify(credential)] } } }],
        }),
      );
      const withExec = connect(server.url, () => loadKubeConfig({ kubeconfig: file }));
      await withExec.list(THINGS, {});
      expect(server.requests[0]?.headers.authorization).to.equal('Bearer made');
      expect(ownNamespace(loadKubeConfig({ kubeconfig: file }), join(folder, 'none'))).to.equal('mine');
      writeFileSync(join(folder, 'namespace'), 'pods\n');
      expect(ownNamespace(loadKubeConfig({ kubeconfig: file }), join(folder, 'namespace'))).to.equal('pods');
      await withExec.close();
    });

    it('asks an exec plugin again after it has failed, and takes a password', async () => {
      const script = join(folder, 'plugin');
      const user = (exec: object): object => ({
        'current-context': 'x',
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: exec }],
      });
      const file = join(folder, 'config');
      writeFileSync(file, JSON.stringify(user({ exec: { command: 'sh', args: [script] } })));
      const withExec = connect(server.url, () => loadKubeConfig({ kubeconfig: file }));
      writeFileSync(script, 'echo locked >&2; exit 1');
      expect(await failure(withExec.list(THINGS, {}))).to.include({ status: 0, reason: 'network' });
      writeFileSync(script, `echo '{"status":{"token":"second"}}'`);
      await withExec.list(THINGS, {});
      expect(server.requests[0]?.headers.authorization).to.equal('Bearer second');
      await withExec.close();

      writeFileSync(file, JSON.stringify(user({ username: 'me', password: 'pw' })));
      const withPassword = connect(server.url, () => loadKubeConfig({ kubeconfig: file }));
      await withPassword.list(THINGS, {});
      expect(server.requests[1]?.headers.authorization).to.equal(`Basic ${btoa('me:pw')}`);
      await withPassword.close();
    });

    it('says which file is at fault', () => {
      const missing = join(folder, 'missing');
      expect(() => loadKubeConfig({ kubeconfig: missing })).to.throw(`${missing} cannot be read`);
      const empty = join(folder, 'empty');
      writeFileSync(empty, '{"current-context":"gone","clusters":[],"contexts":[],"users":[]}');
      expect(() => loadKubeConfig({ kubeconfig: empty })).to.throw(`${empty}: no cluster for context "gone"`);
    });
  });
});
