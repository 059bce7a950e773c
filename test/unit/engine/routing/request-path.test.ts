import { expect } from 'chai';
import fc from 'fast-check';
import { normalizePath } from '../../../../src/engine/routing/request-path.js';

describe('normalizePath', () => {
  const cases: readonly (readonly [path: string, normal: string | undefined])[] = [
    ['/', '/'],
    ['/a:b', '/a:b'],
    ['/a/b.txt', '/a/b.txt'],
    ['/.well-known/x', '/.well-known/x'],
    ['/x/../admin', '/admin'],
    ['/x/%2e%2E/admin', '/admin'],
    ['/x/.%2e/admin', '/admin'],
    ['/../../admin', '/admin'],
    ['/a/./b', '/a/b'],
    ['/a/..', '/'],
    ['/a/b/..', '/a/'],
    ['/a/.', '/a/'],
    ['//admin', '//admin'],
    ['/a//../b', '/a/b'],
    ['/%61dmin', '/admin'],
    ['/a%2fb', '/a%2fb'],
    ['/a%20b%C3%A9', '/a%20b%C3%A9'],
    ['/admin;v=1', '/admin;v=1'],
    ['/...', '/...'],
    ['/a..b/..c', '/a..b/..c'],
    ['/x/..;p=1/admin', undefined],
    ['/x/..%3bp/admin', undefined],
    ['/x/..%2fadmin', undefined],
    ['/x%2f..%2fadmin', undefined],
    ['/x/..%5cadmin', undefined],
    ['/x%5c%2e%2e/admin', undefined],
    ['/x\\..\\admin', undefined],
    ['/admin%00', undefined],
    ['/admin%0a', undefined],
    ['/a#b', undefined],
    ['/%%32e%%32e/admin', undefined],
    ['/a%2', undefined],
    ['/a%', undefined],
    ['*', '*'],
  ];
  for (const [path, normal] of cases) {
    it(`M-07 M-08 ${path} → ${normal ?? 'refused'}`, () => {
      expect(normalizePath(path)).to.equal(normal);
    });
  }

  it('M-07 is idempotent and leaves no dot segment', () => {
    const element = fc.constantFrom('a', '.', '..', '%2e', '%2E%2e', '', '%41', 'x;y', '%25', '%2f', 'b.c');
    fc.assert(
      fc.property(fc.array(element, { maxLength: 8 }), (elements) => {
        const normal = normalizePath(`/${elements.join('/')}`);
        if (normal === undefined) return;
        expect(normalizePath(normal)).to.equal(normal);
        expect(normal.split('/')).to.not.include.members(['..']);
        expect(normal.split('/').includes('.')).to.equal(false);
      }),
    );
  });
});
