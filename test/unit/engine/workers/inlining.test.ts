import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { INLINING_LIMITS } from '../../../../src/engine/workers/inlining.js';

describe('inlineMore', () => {
  it('asks for what this V8 knows', () => {
    const { status, stderr } = spawnSync(process.execPath, [...INLINING_LIMITS, '-e', '0'], {
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  });
});
