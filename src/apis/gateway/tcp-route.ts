import { Type } from '@sinclair/typebox';

import { namespaced, type Described } from '../schema.js';
import { commonRouteSpec } from './references.js';
import { streamRouteRules } from './stream-route.js';

export const TcpRouteSchema = namespaced('TCPRoute', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({ ...commonRouteSpec, rules: streamRouteRules() }),
});
export type TcpRoute = Described<typeof TcpRouteSchema>;
