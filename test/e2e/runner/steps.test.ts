import { join } from 'node:path';

import { expect } from 'chai';

import { repository } from './cluster.js';
import { readCases, readStep, substitute } from './steps.js';

const cases = join(repository, 'test', 'e2e', 'cases');

describe('steps of the end-to-end cases', () => {
  it('can all be read', async () => {
    for (const { name, files } of await readCases(cases, [])) {
      expect(files, name).to.not.be.empty;
      for (const file of files) {
        const step = await readStep(file, new Map());
        if (step.kind === 'command') expect(step.commands, file).to.not.be.empty;
        else if (step.kind !== 'apply') expect(step.objects, file).to.not.be.empty;
      }
    }
  });

  it('chooses cases by words of their names', async () => {
    const names = (await readCases(cases, ['00-', 'rbac'])).map(({ name }) => name);
    expect(names).to.deep.equal(['00-deploy', '90-rbac']);
  });

  it('replaces the variables of a case, and no others', () => {
    expect(substitute('a.${CASE}.test ${OTHER} $CASE', new Map([['CASE', 'x']]))).to.equal(
      'a.x.test ${OTHER} $CASE',
    );
  });
});
