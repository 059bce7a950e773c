import { expect } from 'chai';
import { map, type Subscription } from 'rxjs';
import { VirtualTimeScheduler } from 'rxjs';

import type { KindDescription } from '../../../src/apis/kinds.js';
import { Discovery } from '../../../src/kube/discovery.js';
import { refusal } from '../../../src/kube/kube-api-error.js';
import { recordingLogger, type LogLine } from '../../support/kube/objects.js';
import { settled } from '../../support/manual-clock.js';

const KINDS: readonly KindDescription[] = [
  {
    kind: 'Gateway',
    group: 'g',
    versions: ['v1', 'v1beta1'],
    plural: 'gateways',
    namespaced: true,
    required: true,
  },
  {
    kind: 'TCPRoute',
    group: 'g',
    versions: ['v1', 'v1alpha2'],
    plural: 'tcproutes',
    namespaced: true,
    required: false,
  },
  { kind: 'Service', group: '', versions: ['v1'], plural: 'services', namespaced: true, required: true },
];

/** An API server of which only discovery is asked. */
class FakeDiscovery {
  readonly plurals = new Map<string, readonly string[] | 'broken'>();
  asked = 0;

  get(path: string): Promise<unknown> {
    this.asked += 1;
    const names = this.plurals.get(path);
    if (names === undefined) return Promise.reject(refusal(`GET ${path}`, 404, undefined));
    if (names === 'broken') return Promise.reject(refusal(`GET ${path}`, 503, undefined));
    return Promise.resolve({ resources: [...names, 'gateways/status'].map((name) => ({ name })) });
  }
}

describe('kube/discovery', () => {
  let server: FakeDiscovery;
  let scheduler: VirtualTimeScheduler;
  let logs: LogLine[];
  let discovery: Discovery;
  let seen: string[];
  let subscription: Subscription;

  /** One probe answers within a turn of the event loop; the next waits in virtual time. */
  async function pass(ms: number): Promise<void> {
    await settled();
    const end = scheduler.frame + ms;
    for (;;) {
      const next = scheduler.actions.find(({ delay }) => delay <= end);
      if (next === undefined) break;
      scheduler.maxFrames = next.delay;
      scheduler.flush();
      await settled();
    }
    scheduler.frame = end;
  }

  beforeEach(() => {
    server = new FakeDiscovery();
    server.plurals.set('/api/v1', ['services']);
    server.plurals.set('/apis/g/v1', ['gateways']);
    scheduler = new VirtualTimeScheduler();
    logs = [];
    seen = [];
    discovery = new Discovery({ client: server, logger: recordingLogger(logs), kinds: KINDS, scheduler });
    subscription = discovery.served$
      .pipe(map((served) => [...served].map(([kind, { version }]) => `${kind}.${version}`).join(' ')))
      .subscribe({ next: (text) => seen.push(text), error: (error: unknown) => seen.push(String(error)) });
  });

  afterEach(() => {
    subscription.unsubscribe();
  });

  it('prefers the first version that is served and looks again every minute', async () => {
    await settled();
    expect(seen).to.deep.equal(['Gateway.v1 Service.v1']);
    expect(discovery.find('Gateway')).to.deep.include({ version: 'v1', plural: 'gateways' });
    expect(discovery.find('TCPRoute')).to.equal(undefined);
    const asked = server.asked;
    await pass(59_999);
    expect(server.asked).to.equal(asked);
    await pass(1);
    expect(server.asked).to.equal(asked * 2);
    expect(seen).to.have.length(1);
  });

  it('picks up a CRD that is installed later, and a better version of it', async () => {
    server.plurals.set('/apis/g/v1alpha2', ['tcproutes']);
    await pass(60_000);
    server.plurals.set('/apis/g/v1', ['gateways', 'tcproutes']);
    await pass(60_000);
    expect(seen).to.deep.equal([
      'Gateway.v1 Service.v1',
      'Gateway.v1 TCPRoute.v1alpha2 Service.v1',
      'Gateway.v1 TCPRoute.v1 Service.v1',
    ]);
  });

  it('drops a kind only when two probes in a row do not see it', async () => {
    server.plurals.set('/apis/g/v1alpha2', ['tcproutes']);
    await pass(60_000);
    server.plurals.delete('/apis/g/v1alpha2');
    await pass(60_000);
    expect(seen).to.have.length(2);
    server.plurals.set('/apis/g/v1alpha2', ['tcproutes']);
    await pass(5_000);
    expect(seen).to.have.length(2);
    server.plurals.delete('/apis/g/v1alpha2');
    await pass(60_000);
    await pass(5_000);
    expect(seen.at(-1)).to.equal('Gateway.v1 Service.v1');
  });

  it('keeps the last answer of a group version that does not answer', async () => {
    await settled();
    server.plurals.set('/apis/g/v1', 'broken');
    await pass(180_000);
    expect(seen).to.have.length(1);
    expect(logs.some(({ msg, apiVersion }) => msg === 'discovery failed' && apiVersion === 'g/v1')).to.equal(
      true,
    );
  });

  it('says nothing before every group version has answered once, and tries again soon', async () => {
    subscription.unsubscribe();
    seen.length = 0;
    server.plurals.set('/apis/g/v1', 'broken');
    const fresh = new Discovery({ client: server, logger: recordingLogger(logs), kinds: KINDS, scheduler });
    subscription = fresh.served$.subscribe({
      next: () => seen.push('served'),
      error: () => seen.push('error'),
    });
    await pass(4_000);
    expect(seen).to.deep.equal([]);
    server.plurals.set('/apis/g/v1', ['gateways']);
    await pass(1_000);
    expect(seen).to.deep.equal(['served']);
  });

  it('says which required kinds it waits for, once, and looks every five seconds until they are there', async () => {
    server.plurals.delete('/apis/g/v1');
    await pass(60_000);
    await pass(5_000);
    const waiting = logs.filter(({ msg }) => msg.startsWith('waiting for required kinds'));
    expect(waiting.map(({ kinds }) => kinds)).to.deep.equal([['Gateway.g']]);
    const asked = server.asked;
    await pass(5_000);
    expect(server.asked).to.be.greaterThan(asked);
    server.plurals.set('/apis/g/v1', ['gateways']);
    await pass(5_000);
    expect(logs.at(-1)?.msg).to.equal('all required kinds are served');
  });

  it('looks soon, and once, when watches were told that their kind is not there', async () => {
    await settled();
    const asked = server.asked;
    discovery.probeSoon();
    discovery.probeSoon();
    await pass(500);
    expect(server.asked).to.equal(asked * 2);
    await pass(1_000);
    expect(server.asked).to.equal(asked * 2);
  });
});
