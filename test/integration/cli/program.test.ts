import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'chai';

/** Runs the command line as a user does. */
function run(...argv: readonly string[]): { status: number | null; out: string; error: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', 'src/main.ts', ...argv],
    {
      encoding: 'utf8',
      // What another loader makes of the same files cannot be merged into the coverage of this process.
      env: { PATH: process.env['PATH'], NODE_V8_COVERAGE: '' },
    },
  );
  return { status, out: stdout, error: stderr };
}

describe('trickster-gateway', function () {
  this.timeout(60_000);

  let directory: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'program-'));
    writeFileSync(join(directory, 'bad.yaml'), 'kind: Gateway\n');
    writeFileSync(join(directory, 'config.yaml'), 'mgmt: {listen_prt: 1}\n');
  });

  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('says its version', () => {
    expect(run('version')).to.include({ status: 0, error: '' });
    expect(run('version').out).to.match(/^trickster-gateway \d+\.\d+\.\d+ \(Node v24/);
  });

  it('exits with 1 when the input is at fault', () => {
    expect(run('validate', join(directory, 'bad.yaml')).status).to.equal(1);
    const config = run('run', '--config', join(directory, 'config.yaml'), '--source', directory);
    expect(config.status).to.equal(1);
    expect(config.error).to.include('did you mean listen_port?');
  });

  it('exits with 2 for wrong use', () => {
    expect(run('serve').status).to.equal(2);
    expect(run('run', '--wire', 'quic').status).to.equal(2);
    expect(run('run', '--workers', 'many').status).to.equal(2);
    expect(run('run', '--source', directory, '--kubeconfig', 'x').status).to.equal(2);
  });

  it('exits with 3 when the environment is at fault', () => {
    const status = run('status', '--mgmt', 'http://127.0.0.1:1');
    expect(status.status).to.equal(3);
    expect(status.error).to.include('no running trickster-gateway answers');
    const cluster = run('run', '--kubeconfig', join(directory, 'none'));
    expect(cluster.status).to.equal(3);
    expect(cluster.error).to.include('cannot be read');
  });
});
