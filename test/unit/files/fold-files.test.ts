import { expect } from 'chai';

import { joinDocuments, unreadableFile, type FileReading } from '../../../src/files/file-reading.js';
import { foldFiles, NO_FILES, type FilesState } from '../../../src/files/fold-files.js';
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
});
