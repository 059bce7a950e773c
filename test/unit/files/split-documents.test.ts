import { expect } from 'chai';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';

import { splitDocuments } from '../../../src/files/split-documents.js';

describe('splitDocuments', () => {
  const cases: readonly { name: string; text: string; want: readonly (readonly [number, string])[] }[] = [
    { name: 'nothing', text: '', want: [[1, '']] },
    { name: 'one document', text: 'a: 1\n', want: [[1, 'a: 1\n']] },
    {
      name: 'two',
      text: 'a: 1\n---\nb: 2\n',
      want: [
        [1, 'a: 1'],
        [2, '---\nb: 2\n'],
      ],
    },
    { name: 'a marker at the head', text: '---\na: 1\n', want: [[1, '---\na: 1\n']] },
    {
      name: 'comments and directives before a marker',
      text: '# a\n%YAML 1.2\n--- # b\na: 1',
      want: [[1, '# a\n%YAML 1.2\n--- # b\na: 1']],
    },
    { name: 'dashes that are no marker', text: 'a: |\n  ---\n----\n', want: [[1, 'a: |\n  ---\n----\n']] },
    {
      name: 'Windows line ends',
      text: 'a: 1\r\n---\r\nb: 2',
      want: [
        [1, 'a: 1\r'],
        [2, '---\r\nb: 2'],
      ],
    },
  ];
  for (const { name, text, want } of cases) {
    it(`finds ${name}`, () => {
      expect(splitDocuments(text).map((one) => [one.firstLine, one.text])).to.deep.equal(want);
    });
  }

  it('loses nothing and moves nothing', () => {
    const line = fc.constantFrom('---', '--- # x', 'a: 1', '# c', '', '  b: 2', '%YAML 1.2');
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const parts = splitDocuments(lines.join('\n'));
        expect(parts.map(({ text }) => text).join('\n')).to.equal(lines.join('\n'));
        for (const { text, firstLine } of parts)
          expect(
            lines
              .slice(firstLine - 1)
              .join('\n')
              .startsWith(text),
          ).to.equal(true);
      }),
    );
  });

  it('gives the documents that the whole text has', () => {
    const document = fc.record({ a: fc.integer(), b: fc.array(fc.constantFrom('x', '--- y', '- z', '#')) });
    fc.assert(
      fc.property(fc.array(document, { minLength: 1 }), (documents) => {
        const text = documents.map((one) => JSON.stringify(one, undefined, 1)).join('\n---\n');
        const values = splitDocuments(text).flatMap((part) =>
          parseAllDocuments(part.text).map((one): unknown => one.toJS() as unknown),
        );
        expect(values).to.deep.equal(documents);
      }),
    );
  });
});
