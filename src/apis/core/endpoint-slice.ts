import { Type } from '@sinclair/typebox';

import { namespaced, openOneOf, portNumber, type Described } from '../schema.js';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** Absent `ready` counts as true, absent `serving` as `ready`, absent `terminating` as false. */
export const EndpointSchema = Type.Object(
  {
    addresses: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
    conditions: Type.Optional(
      Type.Object({
        ready: Type.Optional(Type.Boolean()),
        serving: Type.Optional(Type.Boolean()),
        terminating: Type.Optional(Type.Boolean()),
      }),
    ),
  },
  { unread: ['hostname', 'targetRef', 'deprecatedTopology', 'nodeName', 'zone', 'hints'] },
);
export type Endpoint = Described<typeof EndpointSchema>;

export const EndpointPortSchema = Type.Object({
  name: Type.String({ default: '' }),
  protocol: openOneOf(['TCP', 'UDP', 'SCTP'], { default: 'TCP' }),
  port: Type.Optional(portNumber()),
  appProtocol: Type.Optional(Type.String()),
});
export type EndpointPort = Described<typeof EndpointPortSchema>;

/** The Service it belongs to is in the label `kubernetes.io/service-name`. */
export const EndpointSliceSchema = namespaced(
  'EndpointSlice',
  'discovery.k8s.io/v1',
  {
    addressType: openOneOf(['IPv4', 'IPv6', 'FQDN']),
    endpoints: Type.Array(EndpointSchema, { default: [], maxItems: 1000 }),
    ports: Type.Array(EndpointPortSchema, { default: [], maxItems: 20_000 }),
  },
  [],
);
export type EndpointSlice = Described<typeof EndpointSliceSchema>;
