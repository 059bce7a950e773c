import { expect } from 'chai';

import { SuiteOutput } from './suite-output.js';

const sequential = [
  '\u0016=== RUN   TestConformance',
  '    conformance.go:1: Running conformance tests with:',
  '\u0016=== RUN   TestConformance/First',
  '    first.go:1: Applying manifest',
  '\u0016=== RUN   TestConformance/First/0_request',
  '    first.go:2: Received 200',
  '\u0016=== NAME  TestConformance/First',
  '    \u0016--- PASS: TestConformance/First (1.50s)',
  '        \u0016--- PASS: TestConformance/First/0_request (0.50s)',
  '\u0016=== RUN   TestConformance/Second',
  '    second.go:1: Skipping Second: suite does not support HTTPRouteCORS',
  '    \u0016--- SKIP: TestConformance/Second (0.00s)',
  '',
].join('\n');

const parallel = [
  '=== RUN   TestConformance/A',
  '=== PAUSE TestConformance/A',
  '=== RUN   TestConformance/B',
  '=== PAUSE TestConformance/B',
  '=== CONT  TestConformance/A',
  '=== CONT  TestConformance/B',
  '    b.go:1: of B',
  '=== NAME  TestConformance/A',
  '    a.go:1: of A',
  '    --- FAIL: TestConformance/A (2.00s)',
  '    --- PASS: TestConformance/B (3.00s)',
  '',
].join('\n');

function read(text: string, pieces: number): SuiteOutput {
  let time = 0;
  const output = new SuiteOutput(undefined, () => ++time);
  const size = Math.ceil(text.length / pieces);
  for (let at = 0; at < text.length; at += size) output.write(text.slice(at, at + size));
  return output;
}

describe('SuiteOutput', () => {
  it('tells tests, their results and what is not supported', () => {
    const { tests, setup } = read(sequential, 1);
    expect(tests.map(({ name, result, seconds }) => [name, result, seconds])).to.deep.equal([
      ['First', 'passed', 1.5],
      ['Second', 'unsupported', 0],
    ]);
    expect(tests[0]?.lines).to.deep.equal([
      '    first.go:1: Applying manifest',
      '    first.go:2: Received 200',
    ]);
    expect(setup[0]).to.contain('Running conformance tests');
  });

  it('gives each line to its own test when tests run at the same time', () => {
    const { tests } = read(parallel, 1);
    expect(tests.map(({ name, result, lines }) => [name, result, lines])).to.deep.equal([
      ['A', 'failed', ['    a.go:1: of A']],
      ['B', 'passed', ['    b.go:1: of B']],
    ]);
  });

  it('starts the time of a parallel test when it goes on', () => {
    expect(read(parallel, 1).tests[0]?.begin).to.equal(3);
  });

  it('does not care how the output is cut', () => {
    expect(read(sequential, 17).tests.map(({ name }) => name)).to.deep.equal(['First', 'Second']);
  });
});
