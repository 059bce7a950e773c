import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect } from 'chai';
import fc from 'fast-check';

import { readDocument } from '../../../src/files/read-document.js';

const TOKENS = [
  ...[
    'apiVersion: v1',
    'kind: Secret',
    'kind: List',
    'kind: ConfigMap',
    'metadata:',
    '  name: a',
    'data:',
    '  a: b',
  ],
  ...[
    'items:',
    '- ',
    '  - ',
    '&a',
    '*a',
    '<<: *a',
    '!!binary x',
    '!x y',
    '|',
    '>',
    '? ',
    ': ',
    '[',
    ']',
    '{',
    '}',
    ',',
  ],
  ...[
    '"',
    "'",
    '\\',
    '%YAML 1.2',
    '---',
    '...',
    '\t',
    '\u0000',
    '\uFEFF',
    '#',
    '\r\n',
    'null',
    '~',
    '1e999',
    '__proto__: {a: b}',
  ],
];

describe('readDocument', () => {
  it('never throws and always has a line for what it reports', () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 5 })), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(text, fc.constantFrom('\n', ' ', ''), (tokens, joint) => {
        const reading = readDocument(tokens.join(joint));
        for (const { line } of reading.problems) expect(line).to.be.a('number').that.is.at.least(1);
        for (const { lineOf } of reading.objects) expect(lineOf('spec.rules[3]["x"]')).to.be.at.least(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it('knows the lines of documents whose trees it has let go', async () => {
    setFlagsFromString('--expose-gc');
    // The global is there in contexts that are made from now on.
    const collectGarbage = runInNewContext('gc') as () => void;
    const gateway = [
      'apiVersion: gateway.networking.k8s.io/v1',
      'kind: GatewayClass',
      'metadata:',
      '  name: a',
    ];
    const lines = [...gateway, 'spec:', '  controllerName: a.test/b', '  description: c'];
    const { objects } = readDocument(['# first', ...lines].join('\n'));
    for (let round = 0; round < 2; round++) {
      expect(objects.map(({ lineOf }) => lineOf('spec.description'))).to.deep.equal([8]);
      expect(objects.map(({ lineOf }) => lineOf('metadata.name'))).to.deep.equal([5]);
      // What a WeakRef was asked for stays to the end of the job.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
  });

  it('shows no piece of a text that is no YAML', () => {
    for (const text of [
      'data: {a: "x" hunter2}',
      'a: b\n"hunter2"',
      'password: |hunter2\n x',
      "a: 'hunter2\nb",
    ]) {
      const { problems } = readDocument(text);
      expect(problems, text).to.not.be.empty;
      expect(JSON.stringify(problems), text).to.not.contain('hunter2');
    }
  });

  it('takes JSON as it is, tabs and all', () => {
    const json = JSON.stringify(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'x\ty' } },
      undefined,
      '\t',
    );
    const reading = readDocument(json);
    expect(reading.problems).to.deep.equal([]);
    expect(reading.objects[0]?.object).to.have.nested.property('data.k', 'x\ty');
  });
});
