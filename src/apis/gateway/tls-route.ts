import { Type } from '@sinclair/typebox';

import { atomicList, hostname, namespaced, type Described } from '../schema.js';
import { commonRouteSpec } from './references.js';
import { streamRouteRules } from './stream-route.js';

/** Before it was v1 host names were optional: from the API server none at all may come. */
export const TlsRouteSchema = namespaced('TLSRoute', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    ...commonRouteSpec,
    hostnames: atomicList(hostname(), { minItems: 1, maxItems: 1024, absent: [] }),
    rules: streamRouteRules(),
  }),
});
export type TlsRoute = Described<typeof TlsRouteSchema>;
