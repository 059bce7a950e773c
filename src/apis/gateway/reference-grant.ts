import { Type } from '@sinclair/typebox';

import {
  atomicList,
  group,
  kindName,
  namespaced,
  namespaceName,
  objectName,
  type Described,
} from '../schema.js';

export const ReferenceGrantSchema = namespaced('ReferenceGrant', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    from: atomicList(Type.Object({ group: group(), kind: kindName(), namespace: namespaceName() }), {
      minItems: 1,
      maxItems: 16,
    }),
    to: atomicList(Type.Object({ group: group(), kind: kindName(), name: Type.Optional(objectName()) }), {
      minItems: 1,
      maxItems: 16,
    }),
  }),
});
export type ReferenceGrant = Described<typeof ReferenceGrantSchema>;
