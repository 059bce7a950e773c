import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { expect } from 'chai';

import type { AnyObject } from '../../src/apis/objects.js';
import { printCase, readCase, runCase } from './golden-case.js';

const folder = new URL('./testdata/', import.meta.url);
const update = process.env['UPDATE_GOLDEN'] === '1';
const files = readdirSync(folder).sort();

describe('golden translations', () => {
  for (const file of files.filter((name) => name.endsWith('.in.yaml'))) {
    const name = file.replace('.in.yaml', '');

    describe(name, () => {
      const golden = new URL(`${name}.out.yaml`, folder);

      it('gives what is written down', () => {
        const one = readCase(readFileSync(new URL(file, folder), 'utf8'));
        const actual = printCase(runCase(one, one.objects));
        if (update) writeFileSync(golden, actual);
        expect(actual).to.equal(existsSync(golden) ? readFileSync(golden, 'utf8') : '');
      });

      it('gives the same whatever the order of the objects', () => {
        const one = readCase(readFileSync(new URL(file, folder), 'utf8'));
        const expected = printCase(runCase(one, one.objects));
        expect(printCase(runCase(one, [...one.objects].reverse()))).to.equal(expected);
        expect(printCase(runCase(one, interleave(one.objects)))).to.equal(expected);
      });
    });
  }

  it('has a case for every golden file', () => {
    const orphans = files.filter(
      (name) => name.endsWith('.out.yaml') && !files.includes(name.replace('.out.yaml', '.in.yaml')),
    );
    expect(orphans).to.deep.equal([]);
  });
});

/** Another order: from both ends to the middle. */
function interleave(objects: readonly AnyObject[]): readonly AnyObject[] {
  const half = Math.ceil(objects.length / 2);
  return objects.slice(0, half).flatMap((object, index) => [objects[half + index] ?? [], object].flat());
}
