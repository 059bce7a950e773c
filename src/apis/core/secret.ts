import { Type } from '@sinclair/typebox';

import { namespaced, textMap, type Described } from '../schema.js';

/** The values of `data` are base64. */
export const SecretSchema = namespaced(
  'Secret',
  'v1',
  { type: Type.String({ default: 'Opaque' }), data: Type.Optional(textMap()) },
  ['immutable'],
);
export type Secret = Described<typeof SecretSchema>;
