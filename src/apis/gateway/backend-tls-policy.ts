import { Type } from '@sinclair/typebox';

import {
  atomicList,
  group,
  hostname,
  kindName,
  namespaced,
  objectName,
  openOneOf,
  subdomain,
  type Described,
} from '../schema.js';
import { annotationMap } from './listener.js';
import { LocalObjectReferenceSchema } from './references.js';

export const SubjectAltNameSchema = Type.Object({
  type: openOneOf(['Hostname', 'URI']),
  hostname: Type.Optional(hostname()),
  uri: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      pattern: '^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?',
      form: 'an absolute URI such as "spiffe://example.com/shop"',
    }),
  ),
});

export const BackendTlsPolicySchema = namespaced('BackendTLSPolicy', 'gateway.networking.k8s.io/v1', {
  spec: Type.Object({
    targetRefs: atomicList(
      Type.Object({
        group: group(),
        kind: kindName(),
        name: objectName(),
        sectionName: Type.Optional(subdomain()),
      }),
      { minItems: 1, maxItems: 16 },
    ),
    validation: Type.Object({
      caCertificateRefs: Type.Optional(atomicList(LocalObjectReferenceSchema, { maxItems: 8 })),
      wellKnownCACertificates: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 253,
          pattern:
            '^(System|([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$',
          form: '"System" or a domain-prefixed name',
        }),
      ),
      hostname: subdomain(),
      subjectAltNames: Type.Optional(atomicList(SubjectAltNameSchema, { maxItems: 5 })),
    }),
    options: Type.Optional(annotationMap(16)),
  }),
});
export type BackendTlsPolicy = Described<typeof BackendTlsPolicySchema>;
