import { expect } from 'chai';
import { BehaviorSubject } from 'rxjs';

import type { PlannedEvent } from '../../../src/graph/status-plan.js';
import { NOT_LEADING, type Leadership } from '../../../src/kube/leadership.js';
import type { ObjectEvent } from '../../../src/kube/object-event.js';
import { EventLog } from '../../../src/status/event-log.js';
import { KubeEventSink } from '../../../src/status/kube-event-sink.js';
import { recordingLogger, silentLogger, type LogLine } from '../../support/kube/objects.js';
import { ManualClock } from '../../support/manual-clock.js';

function warning(message: string, reason = 'InvalidCertificate', name = 'edge'): PlannedEvent {
  return {
    object: { kind: 'Gateway', namespace: 'infra', name, uid: `uid-${name}` },
    type: 'Warning',
    reason,
    message,
  };
}

const there = (): boolean => true;
const leading = (number: number): Leadership => ({
  leading: true,
  term: { number, signal: new AbortController().signal, isCurrent: there },
});

describe('status/kube-event-sink', () => {
  let recorded: string[];
  let leadership$: BehaviorSubject<Leadership>;
  let sink: KubeEventSink;

  beforeEach(() => {
    recorded = [];
    leadership$ = new BehaviorSubject<Leadership>(NOT_LEADING);
    sink = new KubeEventSink({
      recorder: {
        record: ({ object, type, reason, message }: ObjectEvent, { term, unlessRecorded }) => {
          recorded.push(
            `${term.number} ${object.apiVersion} ${object.name} ${type} ${reason} ${message}${unlessRecorded === true ? ' (unless)' : ''}`,
          );
        },
      },
      leadership$,
      apiVersionOf: () => 'g/v1',
      logger: silentLogger,
    });
    sink.start();
  });

  afterEach(() => {
    sink.stop();
  });

  it('tells a problem once while it lasts, and once when it has healed', () => {
    leadership$.next(leading(1));
    sink.publish([], there);
    sink.publish([warning('missing')], there);
    sink.publish([warning('missing')], there);
    sink.publish([], there);
    sink.publish([], there);
    expect(recorded).to.deep.equal([
      '1 g/v1 edge Warning InvalidCertificate missing',
      '1 g/v1 edge Normal Resolved InvalidCertificate does not apply any more',
    ]);
  });

  it('takes a change of words for news, but not for healing; one of two problems heals alone', () => {
    leadership$.next(leading(1));
    sink.publish([], there);
    sink.publish([warning('one'), warning('x', 'Rejected')], there);
    sink.publish([warning('two'), warning('x', 'Rejected')], there);
    sink.publish([warning('two')], there);
    expect(recorded.map((text) => text.slice('1 g/v1 edge '.length))).to.deep.equal([
      'Warning InvalidCertificate one',
      'Warning Rejected x',
      'Warning InvalidCertificate two',
      'Normal Resolved Rejected does not apply any more',
    ]);
  });

  it('says nothing about objects that are gone, nor that news of success are over', () => {
    leadership$.next(leading(1));
    sink.publish([], there);
    sink.publish([warning('x'), { ...warning('y', 'Accepted'), type: 'Normal' }], there);
    sink.publish([], () => false);
    expect(recorded).to.have.length(2);
  });

  it('E-01 records as the leader only; a new one repeats nothing that its predecessor has told', () => {
    sink.publish([warning('missing')], there);
    expect(recorded).to.deep.equal([]);
    leadership$.next(leading(3));
    expect(recorded).to.deep.equal(['3 g/v1 edge Warning InvalidCertificate missing (unless)']);
    leadership$.next(NOT_LEADING);
    sink.publish([warning('missing'), warning('more')], there);
    expect(recorded).to.have.length(1);
  });

  it('treats the first state after the start of a leader as a takeover too', () => {
    leadership$.next(leading(1));
    sink.publish([warning('missing')], there);
    sink.publish([warning('missing'), warning('later')], there);
    expect(recorded).to.deep.equal([
      '1 g/v1 edge Warning InvalidCertificate missing (unless)',
      '1 g/v1 edge Warning InvalidCertificate later',
    ]);
  });
});

describe('status/event-log', () => {
  it('logs changes and keeps the last ones', () => {
    const logs: LogLine[] = [];
    const log = new EventLog(new ManualClock(1000), recordingLogger(logs));
    log.publish([warning('missing')], there);
    log.publish([warning('missing')], there);
    log.publish([], there);
    expect(logs.map(({ level, reason, detail }) => [level, reason, detail])).to.deep.equal([
      [40, 'InvalidCertificate', 'missing'],
      [30, 'Resolved', 'InvalidCertificate does not apply any more'],
    ]);
    expect(log.list().map(({ at, reason }) => `${at} ${reason}`)).to.deep.equal([
      '1000 InvalidCertificate',
      '1000 Resolved',
    ]);
    log.publish(
      Array.from({ length: 1200 }, (_, index) => warning(String(index))),
      there,
    );
    expect(log.list()).to.have.length(1000);
  });
});
