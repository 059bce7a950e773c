import { Type } from '@sinclair/typebox';

import { atomicList, subdomain, type Described } from '../schema.js';
import { BackendRefSchema } from './references.js';

/** The rule of TLSRoute, TCPRoute and UDPRoute. */
export const StreamRouteRuleSchema = Type.Object({
  name: Type.Optional(subdomain()),
  backendRefs: atomicList(BackendRefSchema, { minItems: 1, maxItems: 16, absent: [] }),
});
export type StreamRouteRule = Described<typeof StreamRouteRuleSchema>;

export const streamRouteRules = () => atomicList(StreamRouteRuleSchema, { minItems: 1, maxItems: 1 });
