import { expect } from 'chai';

import { EventRecorder } from '../../../src/kube/event-recorder.js';
import { KubeApiError } from '../../../src/kube/kube-api-error.js';
import { valueAt } from '../../../src/kube/json.js';
import type { LeadershipTerm } from '../../../src/kube/leadership.js';
import type { ObjectEvent } from '../../../src/kube/object-event.js';
import { MemoryApi } from '../../support/kube/memory-api.js';
import { recordingLogger, type LogLine } from '../../support/kube/objects.js';
import { ManualClock } from '../../support/manual-clock.js';

const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  namespace: 'infra',
  name: 'edge',
  uid: 'u1',
};

function event(changes: Partial<ObjectEvent> = {}): ObjectEvent {
  return {
    object: gateway,
    type: 'Warning',
    reason: 'InvalidCertificate',
    message: 'Secret infra/tls is missing',
    ...changes,
  };
}

describe('kube/event-recorder', () => {
  let api: MemoryApi;
  let clock: ManualClock;
  let recorder: EventRecorder;
  let logs: LogLine[];
  let leading: boolean;
  let abort: AbortController;
  let term: LeadershipTerm;

  beforeEach(() => {
    api = new MemoryApi();
    clock = new ManualClock(Date.UTC(2026, 0, 1, 12));
    logs = [];
    leading = true;
    abort = new AbortController();
    term = { number: 1, signal: abort.signal, isCurrent: () => leading };
    recorder = new EventRecorder({
      client: api,
      identity: 'pod-1',
      clock,
      logger: recordingLogger(logs),
      random: () => 0,
    });
  });

  const stored = () => [...api.objects.values()];

  it('writes what kubectl describe shows', async () => {
    recorder.record(event(), { term });
    await recorder.idle();
    const { namespace, ...rest } = gateway;
    expect(stored()).to.have.length(1);
    expect(stored()[0]).to.deep.include({
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: { ...rest, namespace },
      type: 'Warning',
      reason: 'InvalidCertificate',
      message: 'Secret infra/tls is missing',
      count: 1,
      firstTimestamp: '2026-01-01T12:00:00Z',
      lastTimestamp: '2026-01-01T12:00:00Z',
      source: { component: 'trickster-gateway' },
      reportingInstance: 'pod-1',
    });
    expect([...api.objects.keys()][0]).to.match(/^\/api\/v1\/namespaces\/infra\/events\/edge\.[0-9a-f]{16}$/);
  });

  it('counts what happens again in one object', async () => {
    for (let index = 0; index < 3; index += 1) {
      recorder.record(event(), { term });
      await recorder.idle();
      await clock.advance(60_000);
    }
    expect(stored()).to.have.length(1);
    expect(stored()[0]).to.include({
      count: 3,
      firstTimestamp: '2026-01-01T12:00:00Z',
      lastTimestamp: '2026-01-01T12:02:00Z',
    });
  });

  it('does not count what a predecessor has told already', async () => {
    recorder.record(event(), { term });
    await recorder.idle();
    recorder.record(event(), { term, unlessRecorded: true });
    await recorder.idle();
    expect(stored()[0]).to.include({ count: 1 });
  });

  it('puts Events of cluster-scoped objects into default', async () => {
    recorder.record(event({ object: { ...gateway, kind: 'GatewayClass', namespace: '' } }), { term });
    await recorder.idle();
    expect([...api.objects.keys()][0]).to.match(/^\/api\/v1\/namespaces\/default\/events\//);
    expect(valueAt(stored()[0], 'involvedObject', 'namespace')).to.equal(undefined);
  });

  it('S-16 makes a valid name for an object with a name of 253 characters', async () => {
    const names = ['a'.repeat(253), `${'a'.repeat(235)}.${'b'.repeat(17)}`];
    for (const name of names) recorder.record(event({ object: { ...gateway, name } }), { term });
    await recorder.idle();
    for (const path of api.objects.keys()) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      expect(name.length).to.be.at.most(253);
      expect(name).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    }
  });

  it('cuts a long message without splitting a character', async () => {
    recorder.record(event({ message: 'é'.repeat(2000) }), { term });
    await recorder.idle();
    const message = String(stored()[0]?.['message']);
    expect(Buffer.byteLength(message)).to.be.at.most(1024);
    expect(message).to.match(/^é+…$/);
  });

  it('tells many similar problems of one object as one, and not too many of any', async () => {
    for (let index = 0; index < 40; index += 1)
      recorder.record(event({ message: `problem ${index}` }), { term });
    await recorder.idle();
    const messages = stored().map(({ message }) => String(message));
    expect(messages).to.have.length(11);
    expect(messages.at(-1)).to.match(/^\(combined from similar events\)/);
    // 25 at once for one object; afterwards one in five minutes.
    await clock.advance(300_000);
    recorder.record(event({ reason: 'Other' }), { term });
    recorder.record(event({ reason: 'Another' }), { term });
    await recorder.idle();
    expect(stored().filter(({ reason }) => reason === 'Other' || reason === 'Another')).to.have.length(1);
  });

  it('tries again after a failure, as long as the API server asks for', async () => {
    let failures = 2;
    api.intercept = () => {
      failures -= 1;
      return failures >= 0
        ? new KubeApiError('POST', { status: 429, reason: '429', retryAfterMs: 3000 })
        : undefined;
    };
    recorder.record(event(), { term });
    await clock.advance(5_999);
    expect(stored()).to.have.length(0);
    await clock.advance(1);
    await recorder.idle();
    expect(stored()).to.have.length(1);
  });

  it('drops what is refused, and what fails too often, with a word in the log', async () => {
    api.intercept = () => new KubeApiError('POST', { status: 403, reason: 'Forbidden' });
    recorder.record(event(), { term });
    await recorder.idle();
    api.intercept = () => new KubeApiError('POST', { status: 500, reason: '500' });
    recorder.record(event({ reason: 'Other' }), { term });
    await clock.advance(120_000);
    await recorder.idle();
    expect(logs.filter(({ msg }) => msg === 'event not recorded')).to.have.length(2);
    expect(stored()).to.have.length(0);
  });

  it('writes nothing for a term that is over', async () => {
    leading = false;
    recorder.record(event(), { term });
    await recorder.idle();
    expect(api.calls).to.deep.equal([]);
    leading = true;
    api.intercept = () => {
      leading = false;
      return new KubeApiError('POST', { status: 500, reason: '500' });
    };
    recorder.record(event(), { term });
    await recorder.idle();
    expect(clock.sleeping).to.equal(0);
    recorder.stop();
  });
});
