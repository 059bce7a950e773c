import { Type } from '@sinclair/typebox';

import { clusterScoped, type Described } from '../schema.js';
import { ObjectReferenceSchema } from './references.js';

export const GatewayClassSchema = clusterScoped('GatewayClass', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    controllerName: Type.String({
      minLength: 1,
      maxLength: 253,
      pattern:
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$",
      form: 'a domain and a path such as "trickstercache.org/gateway-controller"',
    }),
    parametersRef: Type.Optional(ObjectReferenceSchema),
    description: Type.Optional(Type.String({ maxLength: 64 })),
  }),
});
export type GatewayClass = Described<typeof GatewayClassSchema>;
