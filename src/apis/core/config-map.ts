import { Type } from '@sinclair/typebox';

import { namespaced, textMap, type Described } from '../schema.js';

/** The values of `binaryData` are base64. */
export const ConfigMapSchema = namespaced(
  'ConfigMap',
  'v1',
  { data: Type.Optional(textMap()), binaryData: Type.Optional(textMap()) },
  ['immutable'],
);
export type ConfigMap = Described<typeof ConfigMapSchema>;
