import { Type } from '@sinclair/typebox';

import { LabelSelectorSchema } from '../label-selector.js';
import { clusterScoped, objectName, setList, type Described } from '../schema.js';

/** Addresses that Gateways of the address mode `pool` get. */
export const AddressPoolSchema = clusterScoped('AddressPool', 'trickstercache.org/v1alpha1', {
  spec: Type.Object({
    addresses: setList(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 64,
      description: 'CIDRs such as 192.0.2.0/28, ranges such as 192.0.2.10-192.0.2.19, and single addresses.',
      'x-kubernetes-validations': [
        {
          rule: "self.all(a, isCIDR(a) || isIP(a) || (a.split('-').size() == 2 && a.split('-').all(e, isIP(e)) && ip(a.split('-')[0]).family() == ip(a.split('-')[1]).family()))",
          message: 'must be CIDRs, addresses or ranges first-last of one family',
        },
      ],
    }),
    autoAssign: Type.Boolean({
      default: true,
      description:
        'Whether a Gateway that asks for no address gets one; otherwise only on request by spec.addresses.',
    }),
    gatewayClassNames: Type.Optional(
      setList(objectName(), {
        minItems: 1,
        maxItems: 16,
        description: 'The classes whose Gateways may use the pool; absent: all.',
      }),
    ),
    namespaceSelector: Type.Optional(LabelSelectorSchema),
  }),
});
export type AddressPool = Described<typeof AddressPoolSchema>;
