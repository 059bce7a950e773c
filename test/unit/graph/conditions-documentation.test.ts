import { readdirSync, readFileSync } from 'node:fs';

import { expect } from 'chai';

/** Sections of docs/conditions.md by the files whose constructors they describe. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  GatewayClass: ['gateway-class'],
  Gateway: ['gateway'],
  Listener: ['listener'],
  ListenerSet: ['listener-set'],
  Routes: ['route'],
  BackendTLSPolicy: ['backend-tls-policy'],
  TricksterCachePolicy: ['cache-policy'],
  XBackendTrafficPolicy: ['policy'],
};
const DIRECTORY = 'src/graph/conditions/';

/** `Type=Status Reason` of every constructor of a file; a reason that is a parameter counts with each of its values. */
function constructed(file: string): string[] {
  const source = readFileSync(`${DIRECTORY}${file}.ts`, 'utf8');
  const fixed = [...source.matchAll(/condition\(\s*'(\w+)',\s*'(\w+)',\s*'(\w+)'/g)].map(
    ([, type, status, reason]) => `${type ?? ''}=${status ?? ''} ${reason ?? ''}`,
  );
  const given = [
    ...source.matchAll(/reason: ([^,]+),[^)]*\)[^=]*=>\s*condition\(\s*'(\w+)',\s*'(\w+)',\s*reason/g),
  ].flatMap(([, values = '', type = '', status = '']) =>
    [...values.matchAll(/'(\w+)'/g)].map(([, reason = '']) => `${type}=${status} ${reason}`),
  );
  return [...fixed, ...given];
}

function documented(section: string): string[] {
  const text = readFileSync('docs/conditions.md', 'utf8');
  const [, body = ''] = new RegExp(`## ${section}\n([\\s\\S]*?)(?=\n## |$)`).exec(text) ?? [];
  return [...body.matchAll(/^\| (\w+=\w+) \| (\w+) \|/gm)].map(
    ([, name, reason]) => `${name ?? ''} ${reason ?? ''}`,
  );
}

describe('docs/conditions.md', () => {
  for (const [section, files] of Object.entries(SECTIONS)) {
    it(`describes every condition of ${section}`, () => {
      expect(documented(section)).to.include.members(files.flatMap(constructed));
    });
  }

  it('leaves out no file of constructors', () => {
    const files = readdirSync(DIRECTORY).map((file) => file.replace('.ts', ''));
    expect([...Object.values(SECTIONS).flat(), 'condition'].sort()).to.deep.equal(files.sort());
  });

  it('describes what the engine can add to Gateways and listeners', () => {
    const source = readFileSync('src/status/status-conditions.ts', 'utf8');
    const reasons = [...source.matchAll(/reason: '(\w+)'/g)].map(
      ([, reason]) => `Programmed=False ${reason ?? ''}`,
    );
    expect([...documented('Gateway'), ...documented('Listener')]).to.include.members(reasons);
  });
});
