import { readFileSync } from 'node:fs';

import { expect } from 'chai';
import { Registry } from 'prom-client';

import { METRICS } from '../../../src/telemetry/metrics-catalog.js';
import { PrometheusMetrics } from '../../../src/telemetry/metrics.js';
import { TrafficCounters } from '../../../src/telemetry/traffic-counters.js';
import { registerTraffic } from '../../../src/telemetry/traffic-metrics.js';

describe('registerTraffic', () => {
  it('sums the blocks of all workers when it is scraped', async () => {
    const blocks = [new TrafficCounters(), new TrafficCounters()];
    const registry = new Registry();
    registerTraffic(registry, { blocks: () => blocks, rows: () => new Map([['tcp/127.0.0.1:80', 3]]) });
    blocks[0]?.countRequest(3, 200, 2, { received: 10, sent: 100 });
    new TrafficCounters(blocks[1]?.memory).countRequest(3, 204, 30, { received: 1, sent: 20 });
    blocks[1]?.countRequest(3, 503, 30_000, { received: 1, sent: 20 });
    blocks[1]?.countConnection(3, 'connectionsActive', 2);
    blocks[0]?.countCacheResult('hit');

    const lines = (await registry.metrics()).split('\n');
    const listener = 'listener="tcp/127.0.0.1:80"';
    for (const line of [
      `trickster_frontend_requests_total{${listener},http_status="2xx"} 2`,
      `trickster_frontend_requests_total{${listener},http_status="5xx"} 1`,
      `trickster_frontend_written_bytes_total{${listener}} 140`,
      `trickster_proxy_active_connections{${listener}} 2`,
      `trickster_frontend_requests_duration_seconds_bucket{${listener},le="0.005"} 1`,
      `trickster_frontend_requests_duration_seconds_bucket{${listener},le="0.05"} 2`,
      `trickster_frontend_requests_duration_seconds_bucket{${listener},le="+Inf"} 3`,
      `trickster_frontend_requests_duration_seconds_count{${listener}} 3`,
      'trickster_proxy_requests_total{cache_status="hit"} 1',
    ]) {
      expect(lines).to.include(line);
    }
  });
});

describe('METRICS', () => {
  it('are all described in docs/metrics.md, which describes nothing else', () => {
    const documented = readFileSync('docs/metrics.md', 'utf8').match(/`trickster_[a-z_]+`/g) ?? [];
    const names = Object.values(METRICS).map(({ name }) => `\`${name}\``);
    expect([...documented].sort()).to.deep.equal(names.sort());
  });

  it('can each be published', async () => {
    const metrics = new PrometheusMetrics();
    metrics.increment('reconciles', { result: 'applied' });
    metrics.set('leader', 1);
    metrics.observe('translateDuration', 0.004);
    const text = await metrics.text();
    expect(text).to.include('trickster_kgw_reconciles_total{result="applied"} 1');
    expect(text).to.include('trickster_kgw_leader 1');
    expect(text).to.include('trickster_kgw_translate_duration_seconds_bucket{le="0.005"} 1');
  });
});
