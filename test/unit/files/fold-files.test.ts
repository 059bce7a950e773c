import { expect } from 'chai';
import fc from 'fast-check';

import { joinDocuments, unreadableFile, type FileReading } from '../../../src/files/file-reading.js';
import { foldAllFiles, foldFiles, NO_FILES, type FilesState } from '../../../src/files/fold-files.js';
import { readDocument } from '../../../src/files/read-document.js';
import { splitDocuments } from '../../../src/files/split-documents.js';

const T0 = '2026-01-01T00:00:00Z';
const T1 = '2026-01-01T00:00:01Z';

function reading(file: string, text: string): FileReading {
  return joinDocuments(
    file,
    splitDocuments(text).map(({ text: part, firstLine }) => ({ firstLine, reading: readDocument(part) })),
  );
}

function fold(before: FilesState, files: Readonly<Record<string, string>>, now = T1): FilesState {
  return foldFiles(
    before,
    new Map(Object.entries(files).map(([file, text]) => [file, reading(file, text)])),
    now,
  );
}

const route = (name: string, port: number | string = 80): string =>
  `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {rules: [{backendRefs: [{name: s, port: ${String(port)}}]}]}\n`;

const httpRoute = (state: FilesState, name: string) => state.cluster.HTTPRoute.get(`default/${name}`);

describe('foldFiles', () => {
  const first = fold(NO_FILES, { 'a.yaml': `${route('a')}---\n${route('b')}`, 'b.yaml': route('c') }, T0);

  it('keeps the identity of everything that did not change', () => {
    const next = fold(first, { 'a.yaml': `${route('a')}---\n${route('b', 81)}`, 'b.yaml': route('c') });
    expect(httpRoute(next, 'a')).to.equal(httpRoute(first, 'a'));
    expect(httpRoute(next, 'b')).to.not.equal(httpRoute(first, 'b'));
    expect(next.cluster.Namespace).to.equal(first.cluster.Namespace);
    expect(next.cluster.Gateway).to.equal(first.cluster.Gateway);
    expect(next.cluster.HTTPRoute).to.not.equal(first.cluster.HTTPRoute);
    const same = fold(next, { 'a.yaml': `${route('a')}---\n${route('b', 81)}`, 'b.yaml': route('c') });
    expect(same.cluster.HTTPRoute).to.equal(next.cluster.HTTPRoute);
  });

  it('keeps it also when a document moves within its file or to another', () => {
    const next = fold(first, { 'a.yaml': route('b'), 'z.yaml': `# moved\n${route('a')}---\n${route('c')}` });
    for (const name of ['a', 'b', 'c']) expect(httpRoute(next, name)).to.equal(httpRoute(first, name));
    expect(next.cluster.HTTPRoute).to.equal(first.cluster.HTTPRoute);
  });

  it('counts generations by the spec, and keeps uid and creation time', () => {
    const changed = fold(first, { 'a.yaml': route('a', 81) });
    const labelled = fold(changed, {
      'a.yaml': route('a', 81).replace('{name: a}', '{name: a, labels: {x: y}}'),
    });
    const before = httpRoute(first, 'a')?.metadata;
    expect(httpRoute(changed, 'a')?.metadata).to.deep.equal({ ...before, generation: 2 });
    expect(httpRoute(labelled, 'a')?.metadata).to.deep.equal({
      ...before,
      generation: 2,
      labels: { x: 'y' },
    });
  });

  it('gives what appears later a later time, and what comes back another uid', () => {
    const gone = fold(first, {});
    const back = fold(gone, { 'a.yaml': `${route('a')}---\n${route('d')}` });
    expect(httpRoute(first, 'a')?.metadata.creationTimestamp).to.equal(T0);
    expect(httpRoute(back, 'd')?.metadata.creationTimestamp).to.equal(T1);
    expect(httpRoute(back, 'a')?.metadata.uid).to.not.equal(httpRoute(first, 'a')?.metadata.uid);
  });

  it('keeps the last good version of a faulty object, and serves the others anew', () => {
    const next = fold(first, {
      'a.yaml': `${route('a', 'http')}---\n${route('b', 81)}`,
      'b.yaml': route('c'),
    });
    expect(httpRoute(next, 'a')).to.equal(httpRoute(first, 'a'));
    expect(httpRoute(next, 'b')?.spec.rules[0]?.backendRefs?.[0]?.port).to.equal(81);
    expect(next.problems).to.have.length(1);
    const healed = fold(next, { 'a.yaml': `${route('a', 82)}---\n${route('b', 81)}`, 'b.yaml': route('c') });
    expect(httpRoute(healed, 'a')?.metadata.generation).to.equal(2);
    expect(healed.problems).to.deep.equal([]);
  });

  it('keeps the objects of a file of which a part cannot be read, but no others', () => {
    const next = fold(first, { 'a.yaml': `${route('a')}---\nkind: [\n` });
    expect([...next.cluster.HTTPRoute.keys()]).to.have.members(['default/a', 'default/b']);
    expect(next.problems.map(({ line }) => line)).to.deep.equal([7]);
  });

  it('keeps the objects of a file that cannot be read', () => {
    const files = new Map([['b.yaml', unreadableFile('b.yaml', 'cannot be read: EACCES')]]);
    const next = foldFiles(first, files, T1);
    expect([...next.cluster.HTTPRoute.keys()]).to.deep.equal(['default/c']);
    expect(next.problems).to.deep.equal([
      { severity: 'error', file: 'b.yaml', path: '', message: 'cannot be read: EACCES' },
    ]);
  });

  it('lets the first of two descriptions count, by file name', () => {
    const next = fold(NO_FILES, { 'b.yaml': route('a', 2), 'a.yaml': route('a', 1) });
    expect(httpRoute(next, 'a')?.spec.rules[0]?.backendRefs?.[0]?.port).to.equal(1);
    expect(next.problems.map(({ file, message }) => [file, message])).to.deep.equal([
      ['b.yaml', 'is described twice: a.yaml:1 counts, remove one of them'],
    ]);
  });

  it('prefers a file that is there to one that seems to be gone', () => {
    const files = new Map([
      ['a.yaml', { ...reading('a.yaml', `${route('a', 1)}---\n${route('b', 1)}`), leaving: true }],
      ['b.yaml', reading('b.yaml', route('a', 2))],
    ]);
    const next = foldFiles(NO_FILES, files, T1);
    expect(httpRoute(next, 'a')?.spec.rules[0]?.backendRefs?.[0]?.port).to.equal(2);
    expect(httpRoute(next, 'b')?.spec.rules[0]?.backendRefs?.[0]?.port).to.equal(1);
    expect(next.problems).to.deep.equal([]);
  });

  it('drops implied namespaces with their last object', () => {
    expect([...first.cluster.Namespace.keys()]).to.deep.equal(['default']);
    expect(fold(first, {}).cluster.Namespace.size).to.equal(0);
  });

  it('follows the annotation of a Service', () => {
    const service = (port: number): string =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: s, annotations: {trickstercache.org/endpoint: "127.0.0.1:${String(port)}"}}\nspec: {ports: [{port: 80}]}\n`;
    const one = fold(NO_FILES, { 'a.yaml': service(1) });
    const same = fold(one, { 'a.yaml': service(1), 'b.yaml': route('a') });
    const two = fold(same, { 'a.yaml': service(2), 'b.yaml': route('a') });
    expect(same.cluster.EndpointSlice).to.equal(one.cluster.EndpointSlice);
    const slice = two.cluster.EndpointSlice.get('default/s-annotation-0');
    expect(slice?.ports[0]?.port).to.equal(2);
    expect(slice?.metadata.generation).to.equal(2);
  });

  describe('when few files changed', () => {
    const service = (name: string, endpoint: string): string =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, annotations: {trickstercache.org/endpoint: "${endpoint}"}}\nspec: {ports: [{port: 80}]}\n`;
    const slice =
      'apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s-annotation-0}\naddressType: IPv4\nendpoints: []\n';
    const elsewhere = route('a').replace('{name: a}', '{name: a, namespace: other}');
    const documents = fc.constantFrom(
      route('a'),
      route('a', 81),
      route('b'),
      route('b', 'http'),
      elsewhere,
      service('s', '127.0.0.1:1'),
      service('s', '127.0.0.1:1,127.0.0.1:2'),
      service('t', '127.0.0.1:1'),
      service('t', 'nowhere'),
      service('s', '127.0.0.1:1').replace(/, annotations: .*}}/, '}'),
      slice,
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n',
      'kind: [\n',
    );
    const texts = new Map<string, FileReading>();
    const readOnce = (file: string, text: string): FileReading => {
      const known = texts.get(`${file} ${text}`) ?? reading(file, text);
      texts.set(`${file} ${text}`, known);
      return known;
    };
    const edit = fc.record({
      file: fc.constantFrom('a.yaml', 'b.yaml', 'c.yaml'),
      documents: fc.option(fc.array(documents, { maxLength: 3 })),
      leaving: fc.boolean(),
    });

    it('comes to what a look at all files comes to', () => {
      fc.assert(
        fc.property(fc.array(fc.array(edit, { maxLength: 2 }), { maxLength: 12 }), (passes) => {
          const files = new Map<string, FileReading>();
          let state = NO_FILES;
          for (const [pass, edits] of passes.entries()) {
            for (const { file, documents, leaving } of edits) {
              const known = files.get(file);
              if (documents) files.set(file, readOnce(file, documents.join('---\n')));
              else if (leaving && known) files.set(file, { ...known, leaving: true });
              else files.delete(file);
            }
            const now = `2026-01-01T00:00:${String(pass).padStart(2, '0')}Z`;
            const all = foldAllFiles(state, files, now);
            state = foldFiles(state, new Map(files), now);
            expect(state.cluster).to.deep.equal(all.cluster);
            expect(state.problems).to.deep.equal(all.problems);
            expect([...state.disputed]).to.have.members([...all.disputed]);
            expect(comparable(state.objects)).to.deep.equal(comparable(all.objects));
            expect(comparable(state.derived.objects)).to.deep.equal(comparable(all.derived.objects));
            expect([...state.derived.namespaces.keys()]).to.deep.equal([...all.derived.namespaces.keys()]);
          }
        }),
        { numRuns: 300 },
      );
    });

    it('looks at nothing else', () => {
      const files = new Map([
        ['a.yaml', reading('a.yaml', `${route('a')}---\n${service('s', '127.0.0.1:1')}`)],
        ['b.yaml', reading('b.yaml', route('b'))],
      ]);
      const before = foldFiles(NO_FILES, new Map(files), T0);
      files.set('b.yaml', reading('b.yaml', route('b', 81)));
      const after = foldFiles(before, new Map(files), T1);
      expect(after.derived).to.equal(before.derived);
      expect(after.problems).to.equal(before.problems);
      expect(after.cluster.Service).to.equal(before.cluster.Service);
      expect(httpRoute(after, 'b')?.metadata.generation).to.equal(2);
    });
  });
});

/** Without functions. */
function comparable(objects: FilesState['objects']): ReadonlyMap<string, unknown> {
  return new Map(
    [...objects].map(([key, { id, namespace, object, found }]) => [
      key,
      { id, namespace, object, file: found.file, line: found.firstLine },
    ]),
  );
}
