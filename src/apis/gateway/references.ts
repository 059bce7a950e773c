import { Type } from '@sinclair/typebox';

import { GATEWAY_GROUP } from '../kinds.js';
import {
  atomicList,
  group,
  kindName,
  namespaceName,
  objectName,
  openOneOf,
  portNumber,
  subdomain,
  type Described,
} from '../schema.js';

export const ParentRefSchema = Type.Object({
  group: group({ default: GATEWAY_GROUP }),
  kind: kindName({ default: 'Gateway' }),
  namespace: Type.Optional(namespaceName()),
  name: objectName(),
  sectionName: Type.Optional(subdomain()),
  port: Type.Optional(portNumber()),
});
export type ParentRef = Described<typeof ParentRefSchema>;

/** What the specs of all routes have in common. */
export const commonRouteSpec = {
  parentRefs: Type.Optional(atomicList(ParentRefSchema, { maxItems: 32 })),
  useDefaultGateways: Type.Optional(openOneOf(['All', 'None'])),
};

const backendObjectReference = {
  group: group({ default: '' }),
  kind: kindName({ default: 'Service' }),
  name: objectName(),
  namespace: Type.Optional(namespaceName()),
  port: Type.Optional(portNumber()),
};

/** A backend that is not one of several by weight: of a mirror or of external authorisation. */
export const BackendObjectReferenceSchema = Type.Object(backendObjectReference);
export type BackendObjectReference = Described<typeof BackendObjectReferenceSchema>;

/** The properties of a backend of a rule, without filters. */
export const backendRef = {
  ...backendObjectReference,
  weight: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 1 }),
};
export const BackendRefSchema = Type.Object(backendRef);
export type BackendRef = Described<typeof BackendRefSchema>;

/** Where a certificate is: a Secret unless it says otherwise. */
export const SecretObjectReferenceSchema = Type.Object({
  group: group({ default: '' }),
  kind: kindName({ default: 'Secret' }),
  name: objectName(),
  namespace: Type.Optional(namespaceName()),
});
export type SecretObjectReference = Described<typeof SecretObjectReferenceSchema>;

/** An object of any kind, of any namespace. */
export const ObjectReferenceSchema = Type.Object({
  group: group(),
  kind: kindName(),
  name: objectName(),
  namespace: Type.Optional(namespaceName()),
});
export type ObjectReference = Described<typeof ObjectReferenceSchema>;

/** An object of any kind in the namespace of who refers to it. */
export const LocalObjectReferenceSchema = Type.Object({
  group: group(),
  kind: kindName(),
  name: objectName(),
});
export type LocalObjectReference = Described<typeof LocalObjectReferenceSchema>;
