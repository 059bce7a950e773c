import { Type } from '@sinclair/typebox';

import { GATEWAY_GROUP } from '../kinds.js';
import { LabelSelectorSchema } from '../label-selector.js';
import {
  atomicList,
  group,
  hostname,
  kindName,
  mapList,
  mapOf,
  openOneOf,
  portNumber,
  subdomain,
  type Described,
} from '../schema.js';
import { SecretObjectReferenceSchema } from './references.js';

export const annotationMap = (maxProperties: number) =>
  mapOf(Type.String({ minLength: 0, maxLength: 4096 }), { maxProperties });

export const ListenerTlsSchema = Type.Object({
  mode: openOneOf(['Terminate', 'Passthrough'], { default: 'Terminate' }),
  certificateRefs: Type.Optional(atomicList(SecretObjectReferenceSchema, { maxItems: 64 })),
  options: Type.Optional(annotationMap(16)),
});
export type ListenerTls = Described<typeof ListenerTlsSchema>;

export const AllowedRoutesSchema = Type.Object(
  {
    namespaces: Type.Object(
      {
        from: openOneOf(['All', 'Selector', 'Same'], { default: 'Same' }),
        selector: Type.Optional(LabelSelectorSchema),
      },
      { default: { from: 'Same' } },
    ),
    kinds: Type.Optional(
      atomicList(Type.Object({ group: group({ default: GATEWAY_GROUP }), kind: kindName() }), {
        maxItems: 8,
      }),
    ),
  },
  { default: { namespaces: { from: 'Same' } } },
);
export type AllowedRoutes = Described<typeof AllowedRoutesSchema>;

/** A listener of a Gateway or of a ListenerSet: they have the same fields. */
export const ListenerSchema = Type.Object({
  name: subdomain(),
  hostname: Type.Optional(hostname()),
  port: portNumber(),
  protocol: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern:
      '^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9]+$',
    form: 'a protocol such as "HTTPS"',
  }),
  tls: Type.Optional(ListenerTlsSchema),
  allowedRoutes: AllowedRoutesSchema,
});
export type Listener = Described<typeof ListenerSchema>;

export const listeners = () => mapList(ListenerSchema, ['name'], { minItems: 1, maxItems: 64 });
