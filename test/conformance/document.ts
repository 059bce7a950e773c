/** `make conformance-doc`: writes docs/conformance.md from what the last `make conformance` left in build/conformance. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parse } from 'yaml';

import { repository } from '../e2e/runner/cluster.js';
import type { Row } from './results.js';

interface Statistics {
  readonly statistics: { readonly Passed: number; readonly Failed: number; readonly Skipped: number };
}

interface Report {
  readonly date: string;
  readonly gatewayAPIVersion: string;
  readonly gatewayAPIChannel: string;
  readonly profiles: readonly {
    readonly name: string;
    readonly core: Statistics;
    readonly extended?: Statistics & {
      readonly supportedFeatures?: readonly string[];
      readonly unsupportedFeatures?: readonly string[];
    };
  }[];
}

const folder = join(repository, 'build', 'conformance');

function summary({ profiles }: Report): string[] {
  const line = (name: string, level: string, { statistics }: Statistics): string =>
    `| ${name} | ${level} | ${statistics.Passed} | ${statistics.Failed} | ${statistics.Skipped} |`;
  return [
    '| profile | level | passed | failed | skipped |',
    '|---|---|---|---|---|',
    ...profiles.flatMap(({ name, core, extended }) => [
      line(name, 'core', core),
      ...(extended === undefined ? [] : [line(name, 'extended', extended)]),
    ]),
  ];
}

function features({ profiles }: Report): string[] {
  return profiles.flatMap(({ name, extended }) => {
    const { supportedFeatures = [], unsupportedFeatures = [] } = extended ?? {};
    const published = `${supportedFeatures.length} extended features of ${name}`;
    const rest =
      unsupportedFeatures.length === 0 ? 'all there are' : `without ${unsupportedFeatures.join(', ')}`;
    return [`**${published}** (${rest}): ${supportedFeatures.join(', ')}.`, ''];
  });
}

function tests(rows: readonly Row[]): string[] {
  const byName = Map.groupBy(rows, (row) => row.test);
  const profile = (row: Row): string => row.profile.replace('GATEWAY-', '');
  return [
    '| test | profiles | result | seconds |',
    '|---|---|---|---|',
    ...[...byName]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, of]) => {
        const results = [...new Set(of.map((row) => row.result))].join(', ');
        return `| ${name} | ${of.map(profile).join(', ')} | ${results} | ${of[0]?.seconds ?? ''} |`;
      }),
  ];
}

const report = parse(await readFile(join(folder, 'report.yaml'), 'utf8')) as Report;
const rows = JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as Row[];
const profiles = report.profiles
  .map(({ name }) => name)
  .sort()
  .join(',');
const text = [
  '# Conformance',
  '',
  `The official suite of Gateway API ${report.gatewayAPIVersion} (${report.gatewayAPIChannel} channel) against the product as it is`,
  'deployed, in a cluster of its own. This is the table of a whole run; it is written by `make conformance-doc` after',
  '',
  `    make conformance PROFILES=${profiles}`,
  '',
  "The suite's own report is then in build/conformance/report.yaml. More: [test/conformance](../test/conformance/README.md).",
  '',
  ...summary(report),
  '',
  ...features(report),
  ...tests(rows),
  '',
];
await writeFile(join(repository, 'docs', 'conformance.md'), text.join('\n'));
