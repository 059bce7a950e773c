import { readFileSync } from 'node:fs';

import { type TSchema, TypeGuard } from '@sinclair/typebox';
import { expect } from 'chai';

import { OptionsSchema } from '../../../../src/app/options/schema.js';

/** Paths of all leaves; names that the user chooses are `*`. */
function leaves(schema: TSchema, path: readonly string[] = []): string[] {
  if (TypeGuard.IsObject(schema)) {
    return Object.entries(schema.properties).flatMap(([key, member]) => leaves(member, [...path, key]));
  }
  const [element] = TypeGuard.IsRecord(schema) ? Object.values(schema.patternProperties) : [];
  // The class parameters have a table of their own.
  return element &&
    path.join('.') !== 'kubernetes.defaults' &&
    path.join('.') !== 'kubernetes.namespace_selector'
    ? leaves(element, [...path, '*'])
    : [path.join('.')];
}

describe('docs/configuration.md', () => {
  it('describes every key of the configuration file and no other', () => {
    const [table = ''] = readFileSync('docs/configuration.md', 'utf8').split('## Class parameters');
    const documented = [...table.matchAll(/^\| (`[^|]+?`) +\|/gm)]
      .flatMap(([, keys = '']) => keys.split(', '))
      .map((key) => key.replaceAll('`', '').replaceAll(/<[^>]+>/g, '*'));
    expect(documented.sort()).to.deep.equal(leaves(OptionsSchema).sort());
  });
});
