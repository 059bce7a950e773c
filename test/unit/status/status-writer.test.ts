import { expect } from 'chai';
import { BehaviorSubject } from 'rxjs';

import type { Kind } from '../../../src/apis/kinds.js';
import type { PlannedStatus, StatusPlan } from '../../../src/graph/status-plan.js';
import { KubeApiError } from '../../../src/kube/kube-api-error.js';
import { listAt, textAt, valueAt } from '../../../src/kube/json.js';
import { NOT_LEADING, type Leadership } from '../../../src/kube/leadership.js';
import type { ServedKind } from '../../../src/kube/resource-path.js';
import { StatusCache } from '../../../src/kube/status-cache.js';
import { StatusWriter } from '../../../src/status/status-writer.js';
import { MemoryApi } from '../../support/kube/memory-api.js';
import { recordingLogger, type LogLine } from '../../support/kube/objects.js';
import { ManualClock, settled } from '../../support/manual-clock.js';
import {
  condition,
  CONTROLLER,
  gatewayStatus,
  OTHER,
  planned,
  routeStatus,
} from '../../support/status/plans.js';

const ROUTES = { group: 'gateway.networking.k8s.io', version: 'v1', plural: 'httproutes', namespaced: true };
const KINDS: Partial<Record<Kind, ServedKind>> = {
  HTTPRoute: ROUTES,
  Gateway: { ...ROUTES, plural: 'gateways' },
};
const pathOf = (name: string): string =>
  `/apis/gateway.networking.k8s.io/v1/namespaces/ns/httproutes/${name}`;

class Term {
  readonly abort = new AbortController();
  current = true;
  readonly leadership: Leadership;

  constructor(number: number) {
    this.leadership = {
      leading: true,
      term: { number, signal: this.abort.signal, isCurrent: () => this.current },
    };
  }
}

describe('status/status-writer', () => {
  let api: MemoryApi;
  let clock: ManualClock;
  let cache: StatusCache;
  let leadership$: BehaviorSubject<Leadership>;
  let writer: StatusWriter;
  let logs: LogLine[];
  let counted: string[];
  const term = (number: number): Term => new Term(number);

  beforeEach(() => {
    api = new MemoryApi();
    clock = new ManualClock(Date.UTC(2026, 0, 1));
    cache = new StatusCache(CONTROLLER);
    leadership$ = new BehaviorSubject<Leadership>(NOT_LEADING);
    logs = [];
    counted = [];
    open();
  });

  afterEach(async () => {
    api.intercept = () => undefined;
    await writer.stop();
    expect(clock.sleeping, 'timers left').to.equal(0);
  });

  function open(rateLimit = { perSecond: 1000, burst: 1000 }): void {
    writer = new StatusWriter({
      client: api,
      findKind: (kind) => KINDS[kind],
      statuses: cache,
      leadership$,
      controllerName: CONTROLLER,
      clock,
      logger: recordingLogger(logs),
      metrics: {
        written: (kind) => counted.push(`written ${kind}`),
        failed: (kind) => counted.push(`failed ${kind}`),
      },
      random: () => 0,
      rateLimit,
    });
    writer.start();
  }

  /** A route as the API server has it, seen by the watch unless said otherwise. */
  function route(
    name: string,
    { generation = 1, status, seen = true }: { generation?: number; status?: object; seen?: boolean } = {},
  ): void {
    const raw = api.put(pathOf(name), {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name, namespace: 'ns', uid: `uid-${name}`, generation },
      spec: { keep: 'me' },
      ...(status === undefined ? {} : { status }),
    });
    if (seen) watch(name, raw);
  }

  function watch(name: string, raw = api.objects.get(pathOf(name))): void {
    cache.observer('HTTPRoute').seen(`ns/${name}`, raw);
  }

  function plan(name: string, message = 'fine', generation = 1): PlannedStatus {
    return planned(routeStatus(['edge', condition('Accepted', 'True', message)]), generation, {
      name,
      uid: `uid-${name}`,
    });
  }

  async function publish(...statuses: StatusPlan): Promise<void> {
    writer.publish(statuses);
    await settled();
  }

  const writes = (): readonly string[] => api.calls.filter((call) => call.startsWith('PUT'));
  const messageOf = (name: string): unknown =>
    textAt(listAt(listAt(api.objects.get(pathOf(name)), 'status', 'parents')[0], 'conditions')[0], 'message');

  it('invariant 7: writes as the leader only, once, by what the watch has seen, and nothing when equal', async () => {
    route('x');
    await publish(plan('x'));
    expect(api.calls).to.deep.equal([]);
    leadership$.next(term(1).leadership);
    await writer.idle();
    expect(api.calls).to.deep.equal([`PUT ${pathOf('x')}/status`]);
    expect(messageOf('x')).to.equal('fine');
    expect(valueAt(api.objects.get(pathOf('x')), 'spec', 'keep')).to.equal('me');
    watch('x');
    await publish(plan('x'));
    await publish(plan('x'));
    expect(writes()).to.have.length(1);
    expect(counted).to.deep.equal(['written HTTPRoute']);
  });

  it('S-12 makes no call at all in fifty resyncs of shuffled plans', async () => {
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) route(name);
    leadership$.next(term(1).leadership);
    await publish(...names.map((name) => plan(name)));
    api.calls.length = 0;
    for (let pass = 0; pass < 50; pass += 1) {
      await publish(...[...names].sort(() => (pass % 3) - 1).map((name) => plan(name)));
    }
    expect(api.calls).to.deep.equal([]);
  });

  it('writes only the newest of several plans', async () => {
    route('x');
    const gate = Promise.withResolvers<undefined>();
    api.intercept = () => gate.promise;
    leadership$.next(term(1).leadership);
    await publish(plan('x', 'one'));
    await publish(plan('x', 'two'));
    await publish(plan('x', 'three'));
    gate.resolve(undefined);
    await clock.advance(200);
    await writer.idle();
    expect(writes()).to.have.length(2);
    expect(messageOf('x')).to.equal('three');
  });

  it('Z-06 writes one object at most five times a second, with what is newest then', async () => {
    route('x');
    leadership$.next(term(1).leadership);
    for (let pass = 0; pass < 100; pass += 1) {
      await publish(plan('x', `pass ${pass}`));
      await clock.advance(10);
    }
    await clock.advance(200);
    await writer.idle();
    expect(writes().length).to.be.within(4, 6);
    expect(messageOf('x')).to.equal('pass 99');
  });

  it('writes Gateways before the routes that wait already', async () => {
    await writer.stop();
    open({ perSecond: 10, burst: 10 });
    const names = Array.from({ length: 40 }, (_, index) => `r${index}`);
    for (const name of names) route(name);
    const put = api.put('/apis/gateway.networking.k8s.io/v1/namespaces/ns/gateways/edge', {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: 'ns', uid: 'uid-edge', generation: 1 },
    });
    cache.observer('Gateway').seen('ns/edge', put);
    leadership$.next(term(1).leadership);
    const routes = names.map((name) => plan(name));
    await publish(...routes);
    await publish(planned(gatewayStatus(), 1, { name: 'edge', uid: 'uid-edge' }), ...routes);
    await clock.advance(10_000);
    await writer.idle();
    const place = writes().findIndex((call) => call.includes('/gateways/'));
    expect(place).to.be.within(1, 19);
    expect(writes()).to.have.length(41);
  });

  it('S-11 reads again after a conflict and keeps what the other wrote, within a bounded rate', async () => {
    route('x');
    // The watch has not told of this yet.
    route('x', { status: { parents: [{ controllerName: OTHER, parentRef: { name: 'o' } }] }, seen: false });
    leadership$.next(term(1).leadership);
    await publish(plan('x'));
    await clock.advance(100);
    await writer.idle();
    const parents = listAt(api.objects.get(pathOf('x')), 'status', 'parents');
    expect(parents.map((entry) => textAt(entry, 'controllerName'))).to.deep.equal([OTHER, CONTROLLER]);
    expect(counted).to.deep.equal(['written HTTPRoute']);
  });

  it('S-11 does not spin while every write meets a conflict, nor wait for minutes', async () => {
    route('x');
    leadership$.next(term(1).leadership);
    const conflict = new KubeApiError('PUT', { status: 409, reason: 'Conflict' });
    api.intercept = (call) => (call.startsWith('PUT') ? conflict : undefined);
    await publish(plan('x'));
    await clock.advance(10_000);
    expect(writes().length).to.be.within(8, 15);
    const before = writes().length;
    await clock.advance(1_000);
    expect(writes().length - before).to.be.within(1, 2);
    api.intercept = () => undefined;
    await clock.advance(2_000);
    await writer.idle();
    expect(messageOf('x')).to.equal('fine');
  });

  it('S-18 drops a verdict about another generation or a predecessor of the same name', async () => {
    route('x', { generation: 2 });
    route('y');
    leadership$.next(term(1).leadership);
    await publish(
      plan('x'),
      planned(routeStatus(['edge', condition('Accepted')]), 1, { name: 'y', uid: 'uid-old' }),
    );
    await writer.idle();
    expect(writes()).to.deep.equal([]);
    await publish(plan('x', 'two', 2));
    await writer.idle();
    expect(messageOf('x')).to.equal('two');
  });

  it('S-18 looks at the generation again after a conflict', async () => {
    route('x');
    route('x', { generation: 2, seen: false });
    leadership$.next(term(1).leadership);
    await publish(plan('x'));
    await clock.advance(1_000);
    await writer.idle();
    expect(messageOf('x')).to.equal(undefined);
  });

  it('reads what the watch has not seen, and drops what is not there', async () => {
    route('x', { seen: false });
    leadership$.next(term(1).leadership);
    await publish(plan('x'), plan('gone'));
    await writer.idle();
    expect(messageOf('x')).to.equal('fine');
    expect(counted).to.deep.equal(['written HTTPRoute']);
  });

  it('E-01 evaluates everything anew when it becomes the leader, and stops with its term', async () => {
    route('x');
    route('y');
    const first = term(1);
    leadership$.next(first.leadership);
    await publish(plan('x'), plan('y'));
    expect(writes()).to.have.length(2);
    first.current = false;
    first.abort.abort();
    leadership$.next(NOT_LEADING);
    // The successor writes something else; this process sees it.
    route('x', { status: {} });
    await publish(plan('x'), plan('y', 'other'));
    expect(writes()).to.have.length(2);
    leadership$.next(term(2).leadership);
    await clock.advance(200);
    await writer.idle();
    expect(writes()).to.have.length(4);
    expect([messageOf('x'), messageOf('y')]).to.deep.equal(['fine', 'other']);
  });

  it('does not write when the term ends between the look and the write', async () => {
    route('x');
    const reign = term(1);
    writer.publish([plan('x')]);
    leadership$.next(reign.leadership);
    reign.current = false;
    await settled();
    expect(writes()).to.deep.equal([]);
  });

  it('lets a write in flight end with its term, and does not repeat it', async () => {
    route('x');
    const reign = term(1);
    api.intercept = () => new Promise<void>(() => undefined);
    leadership$.next(reign.leadership);
    await publish(plan('x'));
    reign.current = false;
    reign.abort.abort();
    await writer.idle();
    expect(writes()).to.have.length(1);
    expect(counted).to.deep.equal([]);
  });

  it('backs off on errors, counts them, and gives up what is refused until something changes', async () => {
    route('x');
    route('y');
    let down = true;
    api.intercept = (call) => {
      if (call.includes('/y')) return new KubeApiError('PUT', { status: 422, reason: 'Invalid' });
      return down ? new KubeApiError('PUT', { status: 503, reason: '503' }) : undefined;
    };
    leadership$.next(term(1).leadership);
    const bad = plan('y');
    await publish(plan('x'), bad);
    await clock.advance(1_000);
    expect(counted.filter((text) => text.startsWith('failed')).length).to.be.within(3, 4);
    down = false;
    await clock.advance(10_000);
    await writer.idle();
    expect(messageOf('x')).to.equal('fine');
    const before = api.calls.length;
    await publish(plan('x'), bad);
    expect(api.calls.length).to.equal(before);
    expect(logs.filter(({ msg }) => msg === 'status refused by the API server')).to.have.length(1);
  });

  it('waits as long as the API server asks for', async () => {
    route('x');
    let refusals = 1;
    api.intercept = () => {
      refusals -= 1;
      return refusals >= 0
        ? new KubeApiError('PUT', { status: 429, reason: '429', retryAfterMs: 5000 })
        : undefined;
    };
    leadership$.next(term(1).leadership);
    await publish(plan('x'));
    await clock.advance(4_999);
    expect(messageOf('x')).to.equal(undefined);
    await clock.advance(1);
    await writer.idle();
    expect(messageOf('x')).to.equal('fine');
  });

  it('stays within its rate', async () => {
    await writer.stop();
    open({ perSecond: 2, burst: 2 });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) route(name);
    leadership$.next(term(1).leadership);
    await publish(...names.map((name) => plan(name)));
    expect(writes()).to.have.length(2);
    await clock.advance(1_000);
    expect(writes()).to.have.length(4);
    await clock.advance(1_000);
    await writer.idle();
    expect(writes()).to.have.length(6);
  });

  it('S-02 takes its entries off objects that are none of ours any more, and leaves those of others', async () => {
    const foreign = { controllerName: OTHER, parentRef: { name: 'o' } };
    const mine = { controllerName: CONTROLLER, parentRef: { name: 'edge' }, conditions: [] };
    route('x', { status: { parents: [foreign, mine] } });
    route('y', { status: { parents: [foreign] } });
    leadership$.next(term(1).leadership);
    await publish();
    await writer.idle();
    expect(writes()).to.deep.equal([`PUT ${pathOf('x')}/status`]);
    expect(listAt(api.objects.get(pathOf('x')), 'status', 'parents')).to.deep.equal([foreign]);
  });

  it('E-04 touches nothing that it does not own', async () => {
    route('x', { status: { parents: [{ controllerName: OTHER }] } });
    leadership$.next(term(1).leadership);
    await publish();
    expect(api.calls).to.deep.equal([]);
  });

  it('repairs its entries when somebody damages them, and is not disturbed by changes beside them', async () => {
    route('x');
    leadership$.next(term(1).leadership);
    await publish(plan('x'));
    const status = valueAt(api.objects.get(pathOf('x')), 'status') as { parents: object[] };
    route('x', { status: { parents: [{ controllerName: OTHER }, ...status.parents] } });
    await settled();
    expect(writes()).to.have.length(1);
    route('x', { status: { parents: [{ controllerName: OTHER }] } });
    await clock.advance(200);
    await writer.idle();
    expect(writes()).to.have.length(2);
    expect(listAt(api.objects.get(pathOf('x')), 'status', 'parents')).to.have.length(2);
  });

  it('does not write again and again what the API server prunes', async () => {
    route('x');
    leadership$.next(term(1).leadership);
    const put = api.put.bind(api);
    api.put = (path, body) => put(path, { ...body, status: { parents: [] } });
    const wanted = plan('x');
    await publish(wanted);
    watch('x');
    for (let pass = 0; pass < 5; pass += 1) await publish(wanted);
    expect(writes()).to.have.length(1);
  });

  it('stops soon although the API server hangs', async () => {
    route('x');
    api.intercept = () => new Promise<void>(() => undefined);
    leadership$.next(term(1).leadership);
    await publish(plan('x'));
    let stopped = false;
    void writer.stop().then(() => (stopped = true));
    await clock.advance(1_999);
    expect(stopped).to.equal(false);
    await clock.advance(1);
    expect(stopped).to.equal(true);
  });

  it('forgets work for objects that leave the plan, and kinds that are not served', async () => {
    route('x');
    const down = new KubeApiError('PUT', { status: 500, reason: '500' });
    api.intercept = () => down;
    leadership$.next(term(1).leadership);
    await publish(plan('x'), planned(routeStatus(), 1, { kind: 'GRPCRoute' }));
    await publish();
    await writer.idle();
    expect(clock.sleeping).to.equal(0);
    expect(writes()).to.have.length(1);
  });
});
