import { Type } from '@sinclair/typebox';

import { duration, group, kindName, mapList, namespaced, objectName, type Described } from '../schema.js';
import { SessionPersistenceSchema } from './session-persistence.js';

/** GEP-3388 (retry budgets) and GEP-1619. */
export const BackendTrafficPolicySchema = namespaced(
  'XBackendTrafficPolicy',
  'gateway.networking.x-k8s.io/v1alpha1',
  {
    spec: Type.Object({
      targetRefs: mapList(
        Type.Object({ group: group(), kind: kindName(), name: objectName() }),
        ['group', 'kind', 'name'],
        { minItems: 1, maxItems: 16 },
      ),
      retryConstraint: Type.Optional(
        Type.Object({
          budget: Type.Object(
            {
              percent: Type.Integer({ minimum: 0, maximum: 100, default: 20 }),
              interval: duration({ default: '10s' }),
            },
            { default: { percent: 20, interval: '10s' } },
          ),
          minRetryRate: Type.Object(
            {
              count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
              interval: Type.Optional(duration()),
            },
            { default: { count: 10, interval: '1s' } },
          ),
        }),
      ),
      sessionPersistence: Type.Optional(SessionPersistenceSchema),
    }),
  },
);
export type BackendTrafficPolicy = Described<typeof BackendTrafficPolicySchema>;
