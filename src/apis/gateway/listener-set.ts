import { Type } from '@sinclair/typebox';

import { GATEWAY_GROUP } from '../kinds.js';
import { group, kindName, namespaced, namespaceName, objectName, type Described } from '../schema.js';
import { listeners } from './listener.js';

/** GEP-1713. */
export const ListenerSetSchema = namespaced('ListenerSet', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    parentRef: Type.Object({
      group: group({ default: GATEWAY_GROUP }),
      kind: kindName({ default: 'Gateway' }),
      name: objectName(),
      namespace: Type.Optional(namespaceName()),
    }),
    listeners: listeners(),
  }),
});
export type ListenerSet = Described<typeof ListenerSetSchema>;
