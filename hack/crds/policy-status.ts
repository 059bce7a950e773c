import type { OpenApiSchema } from './open-api.js';

const text = (maxLength: number, extra: OpenApiSchema = {}): OpenApiSchema => ({
  type: 'string',
  maxLength,
  ...extra,
});

/** meta/v1 Condition. */
const condition: OpenApiSchema = {
  type: 'object',
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  properties: {
    type: text(316),
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: text(1024, { minLength: 1, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    message: text(32768),
  },
};

export const conditions: OpenApiSchema = {
  type: 'array',
  maxItems: 8,
  items: condition,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
};

/** The status that all policies of the Gateway API have (GEP-713): one entry for each target and controller. */
export const policyStatus: OpenApiSchema = {
  type: 'object',
  required: ['ancestors'],
  properties: {
    ancestors: {
      type: 'array',
      maxItems: 16,
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['ancestorRef', 'conditions', 'controllerName'],
        properties: {
          ancestorRef: {
            type: 'object',
            required: ['name'],
            properties: {
              group: text(253, { default: 'gateway.networking.k8s.io' }),
              kind: text(63, { default: 'Gateway', minLength: 1 }),
              namespace: text(63, { minLength: 1 }),
              name: text(253, { minLength: 1 }),
              sectionName: text(253, { minLength: 1 }),
              port: { type: 'integer', format: 'int32', minimum: 1, maximum: 65535 },
            },
          },
          controllerName: text(253, { minLength: 1 }),
          conditions,
        },
      },
    },
  },
};
