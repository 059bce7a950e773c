import { expect } from 'chai';
import fc from 'fast-check';
import { isAuthority } from '../../../../src/engine/http1/authority.js';
import { normalisePath } from '../../../../src/engine/http1/normalise-path.js';

describe('normalisePath', () => {
  for (const [path, want] of [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/..', '/'],
    ['/a/.', '/a/'],
    ['/..', '/'],
    ['/a//../b', '/a/b'],
    ['//a', '//a'],
    ['/%2e%2e/a', '/a'],
    ['/.%2E/a', '/a'],
    ['/%41%7e', '/A~'],
    ['/a%2fb', '/a%2fb'],
    ['/a%20b', '/a%20b'],
    ['/a?b=/../%2e', '/a?b=/../%2e'],
    ['/...', '/...'],
    ['/.a', '/.a'],
    ['/a%5cb', '/a%5cb'],
  ] as const) {
    it(`${path} → ${want}`, () => {
      expect(normalisePath(path)).to.deep.equal({ path: want });
    });
  }

  for (const path of ['/a%00', '/%', '/%4', '/%zz', '/..%5ca', '/a%5c..', '/a%5C%2e%2e%5cb', '/x%5c.%2fy']) {
    it(`${path} is refused`, () => {
      expect(normalisePath(path)).to.have.property('problem');
    });
  }

  it('is idempotent, keeps the first slash and leaves no dot segment', () => {
    const part = fc.constantFrom('/', '.', '..', '%2e', '%2E', '%2f', 'a', 'B~', '%41', '?', '%20');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const result = normalisePath('/' + parts.join(''));
        if ('problem' in result) return false;
        const path = result.path.split('?', 1)[0]!;
        expect(normalisePath(result.path)).to.deep.equal(result);
        return (
          path.startsWith('/') && !path.split('/').some((segment) => segment === '.' || segment === '..')
        );
      }),
    );
  });
});

describe('isAuthority', () => {
  for (const good of [
    'a',
    'a.test',
    'A.test:80',
    'a.test:',
    '1.2.3.4:8080',
    '[::1]',
    '[2001:db8::1]:443',
    'a_b.test',
  ]) {
    it(`${good} is one`, () => {
      expect(isAuthority(good)).to.equal(true);
    });
  }
  for (const bad of [
    '',
    ':80',
    'a:b',
    'a:1:2',
    'u@a',
    'a/b',
    'a b',
    'a,b',
    '[::1',
    '[]',
    '[a::g]',
    '[::1]x',
    'a:123456',
    'a?b',
  ]) {
    it(`${bad} is none`, () => {
      expect(isAuthority(bad)).to.equal(false);
    });
  }
});
