import { Type } from '@sinclair/typebox';

import { namespaced, type Described } from '../schema.js';
import { commonRouteSpec } from './references.js';
import { streamRouteRules } from './stream-route.js';

export const UdpRouteSchema = namespaced('UDPRoute', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({ ...commonRouteSpec, rules: streamRouteRules() }),
});
export type UdpRoute = Described<typeof UdpRouteSchema>;
