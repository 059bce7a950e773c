import { renameSync, unlinkSync, writeFileSync } from 'node:fs';

import { expect } from 'chai';
import type { Observer, Subscription } from 'rxjs';

import { FileSource } from '../../src/files/file-source.js';
import type { FilesState } from '../../src/files/fold-files.js';
import { TemporaryDirectory } from '../support/temporary-directory.js';
import { until } from '../support/until.js';

const TIMING = { quietMs: 5, longestMs: 100, pollMs: 60_000, againMs: 60 };

const route = (name: string, port = 80): string =>
  `apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {rules: [{backendRefs: [{name: s, port: ${String(port)}}]}]}\n`;

describe('FileSource', () => {
  let directory: TemporaryDirectory;
  let subscription: Subscription;
  let states: FilesState[];
  let now = 0;

  beforeEach(() => {
    directory = new TemporaryDirectory();
    states = [];
    now = Date.UTC(2026, 0, 1);
  });

  afterEach(() => {
    subscription.unsubscribe();
    directory.remove();
  });

  const start = (root = directory.path): FileSource => {
    const source = new FileSource(root, { timing: TIMING, now: () => now });
    subscription = source.state$.subscribe(collect((state) => states.push(state)));
    return source;
  };
  const last = (): FilesState | undefined => states.at(-1);
  const names = (): readonly string[] => [...(last()?.cluster.HTTPRoute.keys() ?? [])].sort();
  /** A stream of state never fails: an error would be a fault of the test. */
  const collect = <T>(next: (value: T) => void): Partial<Observer<T>> => ({
    next,
    error: (error: unknown) => {
      throw error;
    },
  });
  const portOf = (name: string): number | undefined =>
    last()?.cluster.HTTPRoute.get(`default/${name}`)?.spec.rules[0]?.backendRefs?.[0]?.port;

  it('gives the whole directory first, then each change', async () => {
    directory.write('a.yaml', route('a'));
    directory.write('deep/b.yaml', route('b'));
    start();
    expect(states).to.have.length(1);
    expect(names()).to.deep.equal(['default/a', 'default/b']);
    directory.write('a.yaml', route('a', 81));
    await until(() => portOf('a') === 81);
    directory.write('new/directory/c.yaml', route('c'));
    await until(() => names().length === 3);
    directory.write('new/directory/c.yaml', route('c', 82));
    await until(() => portOf('c') === 82);
  });

  it('shares one watch among all kinds, and gives each only its changes', async () => {
    directory.write('a.yaml', route('a'));
    const source = start();
    const seen: string[] = [];
    for (const kind of ['HTTPRoute', 'Gateway'] as const)
      subscription.add(
        source
          .sourceOf(kind)
          .snapshots$.subscribe(collect(({ size }) => seen.push(`${kind} ${String(size)}`))),
      );
    directory.write('a.yaml', `${route('a')}---\n${route('b')}`);
    await until(() => seen.length === 3);
    expect(seen).to.deep.equal(['HTTPRoute 1', 'Gateway 0', 'HTTPRoute 2']);
    expect(source.sources()).to.have.length(18);
  });

  it('keeps serving through a broken edit, and tells', async () => {
    directory.write('a.yaml', route('a'));
    const source = start();
    const counts: number[] = [];
    subscription.add(source.problems$.subscribe(collect((problems) => counts.push(problems.length))));
    directory.write('a.yaml', 'kind: [');
    await until(() => counts.at(-1) === 1);
    expect(names()).to.deep.equal(['default/a']);
    directory.write('a.yaml', route('a', 81));
    await until(() => counts.at(-1) === 0);
    expect(portOf('a')).to.equal(81);
  });

  it('does not lose an object while its file is emptied and written again', async () => {
    const file = directory.write('a.yaml', route('a'));
    start();
    writeFileSync(file, '');
    await until(() => states.length > 1);
    expect(names()).to.deep.equal(['default/a']);
    writeFileSync(file, route('a', 81));
    await until(() => portOf('a') === 81);
    expect(states.every(({ cluster }) => cluster.HTTPRoute.size === 1)).to.equal(true);
  });

  it('does not lose an object while an editor puts a new file in the place of the old', async () => {
    const file = directory.write('a.yaml', route('a'));
    start();
    renameSync(file, `${file}~`);
    await until(() => states.length > 1);
    writeFileSync(directory.at('.a.yaml.new'), route('a', 81));
    renameSync(directory.at('.a.yaml.new'), file);
    await until(() => portOf('a') === 81);
    expect(states.every(({ cluster }) => cluster.HTTPRoute.size === 1)).to.equal(true);
  });

  it('moves objects with their file', async () => {
    const file = directory.write('a.yaml', route('a'));
    start();
    renameSync(file, directory.at('z.yaml'));
    await until(() => last()?.objects.get('HTTPRoute/default/a')?.found.file.endsWith('z.yaml') === true);
    expect(
      states.every(({ cluster, problems }) => cluster.HTTPRoute.size === 1 && problems.length === 0),
    ).to.equal(true);
  });

  it('drops the objects of a file that stays away or empty', async () => {
    const [a, b] = [directory.write('a.yaml', route('a')), directory.write('b.yaml', route('b'))];
    start();
    unlinkSync(a);
    await until(() => names().join() === 'default/b');
    writeFileSync(b, '');
    await until(() => names().length === 0);
  });

  it('waits for a directory that is not there yet', async () => {
    const source = start(directory.at('later'));
    expect(last()?.problems.map(({ message }) => message)).to.deep.equal([
      'does not exist: create it or correct the path',
    ]);
    directory.write('later/a.yaml', route('a'));
    await until(() => names().length === 1);
    expect(last()?.problems).to.deep.equal([]);
    expect(source.sourceOf('HTTPRoute').kind).to.equal('HTTPRoute');
  });

  it('serves on when its directory is taken away, and follows the next one', async () => {
    directory.write('live/a.yaml', route('a'));
    start(directory.at('live'));
    directory.remove('live');
    await until(() => last()?.problems.length === 1);
    expect(names()).to.deep.equal(['default/a']);
    directory.write('live/b.yaml', route('b'));
    await until(() => names().join() === 'default/b');
    directory.write('live/b.yaml', route('b', 81));
    await until(() => portOf('b') === 81);
  });

  it('reads a single file', async () => {
    const file = directory.write('a.yaml', route('a'));
    directory.write('b.yaml', route('b'));
    start(file);
    expect(names()).to.deep.equal(['default/a']);
    directory.write('a.yaml', route('a', 81));
    await until(() => portOf('a') === 81);
  });

  it('finds by polling what no notification told', async () => {
    directory.write('a.yaml', route('a'));
    const source = new FileSource(directory.path, { timing: { ...TIMING, pollMs: 20 } });
    subscription = source.state$.subscribe(collect((state) => states.push(state)));
    directory.write('b.yaml', route('b'));
    await until(() => names().length === 2);
  });

  it('numbers objects by their first appearance', async () => {
    directory.write('z.yaml', route('z'));
    start();
    directory.write('a.yaml', route('a'));
    await until(() => names().length === 2);
    const [z, a] = ['z', 'a'].map(
      (name) => last()?.cluster.HTTPRoute.get(`default/${name}`)?.metadata.creationTimestamp ?? '',
    );
    expect(z).to.equal('2026-01-01T00:00:00Z');
    expect(a).to.equal('2026-01-01T00:00:01Z');
  });

  it('leaves nothing behind', async () => {
    const watches = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
    const before = watches();
    directory.write('a.yaml', route('a'));
    start();
    expect(watches()).to.be.greaterThan(before);
    subscription.unsubscribe();
    directory.write('a.yaml', route('a', 81));
    await new Promise((resolve) => setImmediate(resolve));
    expect(states).to.have.length(1);
    expect(watches()).to.equal(before);
  });
});
