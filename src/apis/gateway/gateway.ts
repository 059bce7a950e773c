import { Type } from '@sinclair/typebox';

import { LabelSelectorSchema } from '../label-selector.js';
import {
  atomicList,
  labelValue,
  mapList,
  mapOf,
  namespaced,
  objectName,
  openOneOf,
  portNumber,
  type Described,
} from '../schema.js';
import { annotationMap, listeners } from './listener.js';
import {
  LocalObjectReferenceSchema,
  ObjectReferenceSchema,
  SecretObjectReferenceSchema,
} from './references.js';

/** Without a value any address of the type will do. */
export const GatewayAddressSchema = Type.Object({
  type: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern:
      "^Hostname|IPAddress|NamedAddress|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$",
    form: '"IPAddress", "Hostname", "NamedAddress" or a domain-prefixed type',
    default: 'IPAddress',
  }),
  value: Type.Optional(Type.String({ maxLength: 253 })),
});
export type GatewayAddress = Described<typeof GatewayAddressSchema>;

/** How client certificates are checked (GEP-91). Absent validation: none is asked for. */
export const FrontendTlsConfigSchema = Type.Object({
  validation: Type.Optional(
    Type.Object({
      caCertificateRefs: atomicList(ObjectReferenceSchema, { minItems: 1, maxItems: 16 }),
      mode: openOneOf(['AllowValidOnly', 'AllowInsecureFallback'], { default: 'AllowValidOnly' }),
    }),
  ),
});
export type FrontendTlsConfig = Described<typeof FrontendTlsConfigSchema>;

export const GatewayTlsSchema = Type.Object({
  backend: Type.Optional(Type.Object({ clientCertificateRef: Type.Optional(SecretObjectReferenceSchema) })),
  frontend: Type.Optional(
    Type.Object({
      default: FrontendTlsConfigSchema,
      perPort: Type.Optional(
        mapList(Type.Object({ port: portNumber(), tls: FrontendTlsConfigSchema }), ['port'], {
          maxItems: 64,
        }),
      ),
    }),
  ),
});
export type GatewayTls = Described<typeof GatewayTlsSchema>;

export const GatewaySchema = namespaced(
  'Gateway',
  'gateway.networking.k8s.io/v1',
  {
    spec: Type.Object({
      gatewayClassName: objectName(),
      listeners: listeners(),
      addresses: Type.Optional(atomicList(GatewayAddressSchema, { maxItems: 16 })),
      infrastructure: Type.Optional(
        Type.Object({
          labels: Type.Optional(mapOf(labelValue(), { maxProperties: 8 })),
          annotations: Type.Optional(annotationMap(16)),
          parametersRef: Type.Optional(LocalObjectReferenceSchema),
        }),
      ),
      allowedListeners: Type.Optional(
        Type.Object({
          namespaces: Type.Object(
            {
              from: openOneOf(['All', 'Selector', 'Same', 'None'], { default: 'None' }),
              selector: Type.Optional(LabelSelectorSchema),
            },
            { default: { from: 'None' } },
          ),
        }),
      ),
      tls: Type.Optional(GatewayTlsSchema),
      defaultScope: Type.Optional(openOneOf(['All', 'None'])),
    }),
    // Only the addresses: what was assigned before a restart is adopted from here.
    status: Type.Optional(
      Type.Object(
        {
          addresses: Type.Optional(
            atomicList(Type.Object({ type: Type.String({ default: 'IPAddress' }), value: Type.String() })),
          ),
        },
        { unread: ['conditions', 'listeners', 'attachedListenerSets'] },
      ),
    ),
  },
  [],
);
export type Gateway = Described<typeof GatewaySchema>;
