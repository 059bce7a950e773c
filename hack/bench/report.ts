import { cpus, release } from 'node:os';
import type { Measured, Result } from './measure-scenario.js';
import type { Spread } from './spread.js';
import { judge, passes, reachesStretch, type Verdict } from './verdicts.js';

/** Markdown: what the targets say, then every number. */
export function renderReport(measured: readonly Measured[], date: Date): string {
  const processors = cpus();
  return [
    '# Benchmark',
    '',
    `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${processors.length} × ${processors[0]?.model.trim() ?? ''}, Linux ${release()}, Node ${process.versions.node}.`,
    '',
    'Ratios are of capacity per core: CPU time per request of the peer by ours, medians of alternating rounds; more is',
    'better. Rows of latency are p99 of ours by the peer’s; less is better.',
    '',
    ...renderVerdicts(measured.flatMap((each) => judge(each))),
    ...measured.flatMap(renderScenario),
  ].join('\n');
}

function renderVerdicts(verdicts: readonly Verdict[]): string[] {
  const rows = verdicts.map((verdict) => {
    const { scenario, what, value, must, stretch } = verdict;
    const goal = reachesStretch(verdict) ? 'stretch' : passes(verdict) ? 'pass' : '**fail**';
    return `| ${scenario} | ${what} | ${value} | ${must} | ${stretch ?? ''} | ${goal} |`;
  });
  return ['| scenario | measure | value | must | stretch | |', '|---|---|---|---|---|---|', ...rows, ''];
}

function renderScenario({ scenario, results, facts }: Measured): string[] {
  return [
    `## ${scenario.name}: ${scenario.title}`,
    '',
    '| contender | requests/s | CPU µs each | p50 µs | p99 µs | resident MB |',
    '|---|---|---|---|---|---|',
    ...results.map(renderResult),
    '',
    ...facts.map(({ name, value, unit }) => `- ${name}: ${value} ${unit}`),
    ...(facts.length > 0 ? [''] : []),
  ];
}

function renderResult(result: Result): string {
  const name = result.wire === null ? result.contender : `${result.contender} (${result.wire})`;
  const cells = [
    name,
    spread(result.requestsPerSecond, 0),
    spread(result.cpuMicrosPerRequest, 2),
    result.p50Micros ? spread(result.p50Micros, 0) : '',
    result.p99Micros ? spread(result.p99Micros, 0) : '',
    (result.residentBytes.median / 1e6).toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
}

function spread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}
