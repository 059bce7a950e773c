import { Type } from '@sinclair/typebox';

import { namespaced, openOneOf, portNumber, type Described } from '../schema.js';

export const ServicePortSchema = Type.Object(
  {
    name: Type.String({ default: '' }),
    protocol: openOneOf(['TCP', 'UDP', 'SCTP'], { default: 'TCP' }),
    port: portNumber(),
    /** Absent: the same as `port`. */
    targetPort: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
    appProtocol: Type.Optional(Type.String()),
  },
  { unread: ['nodePort'] },
);
export type ServicePort = Described<typeof ServicePortSchema>;

export const ServiceSchema = namespaced(
  'Service',
  'v1',
  {
    spec: Type.Object(
      {
        type: openOneOf(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], { default: 'ClusterIP' }),
        /** `None` for a headless Service. */
        clusterIP: Type.Optional(Type.String()),
        clusterIPs: Type.Optional(Type.Array(Type.String())),
        externalName: Type.Optional(Type.String()),
        ports: Type.Array(ServicePortSchema, {
          default: [],
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
        }),
      },
      {
        unread: [
          'allocateLoadBalancerNodePorts',
          'externalIPs',
          'externalTrafficPolicy',
          'healthCheckNodePort',
          'internalTrafficPolicy',
          'ipFamilies',
          'ipFamilyPolicy',
          'loadBalancerClass',
          'loadBalancerIP',
          'loadBalancerSourceRanges',
          'publishNotReadyAddresses',
          'selector',
          'sessionAffinity',
          'sessionAffinityConfig',
          'trafficDistribution',
        ],
      },
    ),
    // The addresses of the published Service become those of Gateways.
    status: Type.Optional(
      Type.Object(
        {
          loadBalancer: Type.Optional(
            Type.Object({
              ingress: Type.Optional(
                Type.Array(
                  Type.Object(
                    { ip: Type.Optional(Type.String()), hostname: Type.Optional(Type.String()) },
                    { unread: ['ipMode', 'ports'] },
                  ),
                ),
              ),
            }),
          ),
        },
        { unread: ['conditions'] },
      ),
    ),
  },
  [],
);
export type Service = Described<typeof ServiceSchema>;
