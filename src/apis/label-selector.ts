import { Type } from '@sinclair/typebox';

import { atomicList, textMap, type Described } from './schema.js';

/** meta/v1 LabelSelector. The operator is checked by who evaluates it, as in the API. */
export const LabelSelectorSchema = Type.Object(
  {
    matchLabels: Type.Optional(textMap()),
    matchExpressions: Type.Optional(
      atomicList(
        Type.Object({
          key: Type.String(),
          operator: Type.String(),
          values: Type.Optional(atomicList(Type.String())),
        }),
      ),
    ),
  },
  { 'x-kubernetes-map-type': 'atomic' },
);

export type LabelSelector = Described<typeof LabelSelectorSchema>;
