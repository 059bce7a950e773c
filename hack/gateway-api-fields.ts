import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parse } from 'yaml';

import { KINDS } from '../src/apis/kinds.js';
import { fieldFacts, type FieldFacts } from './crds/field-facts.js';
import type { OpenApiSchema } from './crds/open-api.js';

/*
 * Writes test/support/gateway-api-<version>.fields.json: path, type, bounds and default of each field of the CRDs of
 * the Gateway API (experimental channel), which `make test` compares our schemas with. Needs Go. `--check` writes
 * nothing and fails when the file differs from the module.
 */
const VERSION = '1.6.3';
const target = fileURLToPath(new URL(`../test/support/gateway-api-${VERSION}.fields.json`, import.meta.url));

const Definition = Type.Object({
  spec: Type.Object({
    versions: Type.Array(
      Type.Object({
        storage: Type.Boolean(),
        name: Type.String(),
        schema: Type.Object({
          openAPIV3Schema: Type.Object({
            properties: Type.Object({ spec: Type.Unsafe<OpenApiSchema>(Type.Unknown()) }),
          }),
        }),
      }),
    ),
  }),
});

function moduleDirectory(): string {
  const output = execFileSync('go', ['mod', 'download', '-json', `sigs.k8s.io/gateway-api@v${VERSION}`], {
    cwd: mkdtempSync(join(tmpdir(), 'gateway-api-')),
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  return Value.Parse(Type.Object({ Dir: Type.String() }), JSON.parse(output)).Dir;
}

function factsOfModule(): Record<string, FieldFacts> {
  const directory = join(moduleDirectory(), 'config/crd/experimental');
  const facts: Record<string, FieldFacts> = {};
  for (const { kind, group, plural } of KINDS) {
    if (!group.startsWith('gateway.networking')) continue;
    const file = join(directory, `${group}_${plural}.yaml`);
    const { versions } = Value.Parse(Definition, parse(readFileSync(file, 'utf8'))).spec;
    const version = versions.find(({ name }) => name === 'v1') ?? versions.find(({ storage }) => storage);
    const spec = version?.schema.openAPIV3Schema.properties.spec;
    if (spec) facts[kind] = fieldFacts(spec);
  }
  return facts;
}

const text = `${JSON.stringify(factsOfModule(), undefined, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error(
    `${target} differs from the CRDs of Gateway API v${VERSION}: run npx tsx hack/gateway-api-fields.ts`,
  );
  process.exitCode = 1;
}
