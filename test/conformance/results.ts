import { readFile } from 'node:fs/promises';

import { parse } from 'yaml';

import type { Result, TestRun } from './suite-output.js';

/** One line of results.json. A test that counts for two profiles has two. */
export interface Row {
  readonly profile: string;
  readonly test: string;
  readonly result: Result;
  readonly seconds: number;
}

interface ListedTest {
  readonly test: string;
  readonly profiles: Readonly<Record<string, 'core' | 'extended'>>;
}

/** Which tests of the suite count for which profile. */
export type Inventory = ReadonlyMap<string, ListedTest['profiles']>;

export async function readInventory(path: string): Promise<Inventory> {
  const listed = JSON.parse(await readFile(path, 'utf8')) as ListedTest[];
  return new Map(listed.map(({ test, profiles }) => [test, profiles]));
}

export function rows(tests: readonly TestRun[], inventory: Inventory, profiles: readonly string[]): Row[] {
  return profiles.flatMap((profile) =>
    tests
      .filter((test) => inventory.get(test.name)?.[profile] !== undefined)
      .map(({ name, result, seconds }) => ({ profile, test: name, result, seconds })),
  );
}

interface Report {
  readonly profiles?: readonly ProfileReport[];
}

interface ProfileReport {
  readonly name: string;
  readonly core?: { readonly failedTests?: readonly string[] };
  readonly extended?: { readonly failedTests?: readonly string[] };
}

/** Says in which points the official report and the tests' own verdicts differ; empty when they agree. */
export async function disagreements(reportPath: string, all: readonly Row[]): Promise<string[]> {
  const report = parse(await readFile(reportPath, 'utf8')) as Report;
  const reported = (report.profiles ?? []).flatMap((profile) =>
    [...(profile.core?.failedTests ?? []), ...(profile.extended?.failedTests ?? [])].map(
      (test) => `${profile.name} ${test}`,
    ),
  );
  const seen = all.filter((row) => row.result === 'failed').map((row) => `${row.profile} ${row.test}`);
  return [
    ...reported.filter((name) => !seen.includes(name)).map((name) => `${name}: failed in the report only`),
    ...seen
      .filter((name) => !reported.includes(name))
      .map((name) => `${name}: failed, but not in the report`),
  ];
}

const columns = ['passed', 'failed', 'skipped', 'unsupported'] as const;

/** The terminal's table: profiles and levels down, results across. */
export function table(all: readonly Row[], inventory: Inventory): string {
  const groups = new Map<string, Row[]>();
  for (const row of all) {
    const key = `${row.profile.padEnd(14)}${inventory.get(row.test)?.[row.profile] ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const lines = [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([key, group]) => {
      const counts = columns.map((result) => count(group, result).toString().padStart(13));
      return key.padEnd(24) + counts.join('');
    });
  return ['profile'.padEnd(24) + columns.map((c) => c.padStart(13)).join(''), ...lines].join('\n');
}

export function count(all: readonly { readonly result: Result }[], result: Result): number {
  return all.filter((row) => row.result === result).length;
}
