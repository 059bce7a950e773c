import { expect } from 'chai';

import { ControlPass, type Translate } from '../../../src/aggregation/control-pass.js';
import { EMPTY_CLUSTER } from '../../../src/apis/cluster-snapshot.js';
import type { PlannedStatus } from '../../../src/graph/status-plan.js';
import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../../../src/ir/proxy-configuration.js';
import type { ApplyResult, ProxyEngine } from '../../../src/ir/proxy-engine.js';
import { createLogger } from '../../../src/telemetry/logger.js';
import { PrometheusMetrics } from '../../../src/telemetry/metrics.js';
import { OperatorError } from '../../../src/util/errors.js';
import { systemClock } from '../../../src/util/clock.js';

const gateway: PlannedStatus = {
  object: { kind: 'Gateway', namespace: 'a', name: 'g', uid: 'u' },
  generation: 2,
  status: {
    shape: 'gateway',
    conditions: [{ type: 'Programmed', status: 'True', reason: 'Programmed', message: '' }],
    addresses: [],
    listeners: [
      {
        name: 'http',
        supportedKinds: [],
        attachedRoutes: 0,
        conditions: [{ type: 'Programmed', status: 'True', reason: 'Programmed', message: '' }],
        sockets: ['tcp/127.0.0.1:80'],
      },
    ],
  },
};

class FakeEngine implements ProxyEngine {
  readonly applied: ProxyConfiguration[] = [];
  fault: Error | undefined;

  apply(configuration: ProxyConfiguration): Promise<ApplyResult> {
    if (this.fault) return Promise.reject(this.fault);
    this.applied.push(configuration);
    return Promise.resolve({
      revision: this.applied.length,
      listeners: new Map([['tcp/127.0.0.1:80', { state: 'serving' as const }]]),
    });
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe('ControlPass', () => {
  const setup = (translate: Translate) => {
    const engine = new FakeEngine();
    const metrics = new PrometheusMetrics();
    const logger = createLogger('silent');
    return {
      engine,
      metrics,
      pass: new ControlPass({ translate, engine, metrics, logger, clock: systemClock }),
    };
  };
  const translateTo =
    (configuration: ProxyConfiguration): Translate =>
    () => ({
      configuration,
      statuses: [gateway],
      events: [],
      infrastructure: [],
    });
  const programmed = (statuses: readonly PlannedStatus[] | undefined) => {
    const status = statuses?.[0]?.status;
    return status?.shape === 'gateway' ? status.conditions[0] : undefined;
  };

  it('says what the engine says', async () => {
    const { pass, metrics } = setup(translateTo({ ...EMPTY_CONFIGURATION }));
    const outcome = await pass.run(EMPTY_CLUSTER);
    expect(programmed(outcome?.statuses)).to.include({ status: 'True' });
    expect(await metrics.text()).to.include('trickster_kgw_reconciles_total{result="applied"} 1');
  });

  it('invariant 3: D-04 a refused configuration leaves the last good one serving and says so', async () => {
    const first = { ...EMPTY_CONFIGURATION };
    const { pass, engine, metrics } = setup(translateTo(first));
    await pass.run(EMPTY_CLUSTER);
    engine.fault = new OperatorError('ERR_CONFIG_REJECTED', 'worker said no');
    const outcome = await pass.run(EMPTY_CLUSTER);
    expect(outcome?.configuration).to.equal(first);
    expect(outcome?.result).to.equal(undefined);
    expect(programmed(outcome?.statuses)).to.include({ status: 'False', reason: 'Pending' });
    expect(outcome?.events).to.have.length(1);
    expect(outcome?.events[0]).to.include({ type: 'Warning', reason: 'Rejected' });
    expect(outcome?.events[0]?.message).to.include('worker said no');
    expect(await metrics.text()).to.include('trickster_kgw_reconcile_errors_total{stage="apply"} 1');
  });

  it('survives a translation that throws', async () => {
    let broken = true;
    const good = translateTo({ ...EMPTY_CONFIGURATION });
    const { pass, engine, metrics } = setup((cluster) => {
      if (broken) throw new Error('bug');
      return good(cluster);
    });
    expect(await pass.run(EMPTY_CLUSTER)).to.equal(undefined);
    expect(engine.applied).to.have.length(0);
    broken = false;
    expect(await pass.run(EMPTY_CLUSTER)).not.to.equal(undefined);
    expect(await metrics.text()).to.include('trickster_kgw_reconcile_errors_total{stage="compile"} 1');
  });
});
