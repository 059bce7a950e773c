import { readFileSync } from 'node:fs';

import { Type, type TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { expect } from 'chai';

import { fieldFacts } from '../../../hack/crds/field-facts.js';
import { toOpenApi } from '../../../hack/crds/open-api.js';
import { KINDS } from '../../../src/apis/kinds.js';
import { SCHEMAS } from '../../../src/apis/validate.js';
import { propertyOf } from '../../../src/apis/validation/schema-node.js';

const published = Value.Parse(
  Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
  JSON.parse(readFileSync(new URL('../../support/gateway-api-1.6.3.fields.json', import.meta.url), 'utf8')),
);

describe('schemas of the Gateway API', () => {
  for (const { kind, group } of KINDS) {
    if (!group.includes('gateway.networking')) continue;
    it(`${kind} has the fields, types, bounds, enums and defaults of v1.6.3`, () => {
      const schema: TSchema = SCHEMAS[kind];
      const spec = propertyOf(schema, 'spec');
      expect(spec && fieldFacts(toOpenApi(spec))).to.deep.equal(published[kind]);
    });
  }
});
