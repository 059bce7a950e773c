import { constantsOf, valuesOf, type SchemaNode } from '../../src/apis/validation/schema-node.js';

/** The part of an OpenAPI v3 schema that CRDs use. */
export interface OpenApiSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema;
  readonly items?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly [keyword: string]: unknown;
}

const COPIED = [
  'description',
  'default',
  'format',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
];

/** What a CRD says of a schema of ours: structural, in OpenAPI v3. A field with a default is not required. */
export function toOpenApi(node: SchemaNode): OpenApiSchema {
  const copied = Object.fromEntries(
    COPIED.flatMap((key) => (node[key] === undefined ? [] : [[key, node[key]]])),
  );
  const pattern: unknown = node['apiPattern'] ?? node.pattern;
  return {
    ...copied,
    ...(pattern !== undefined && { pattern }),
    ...shape(node),
  };
}

function shape(node: SchemaNode): OpenApiSchema {
  const constants = constantsOf(node);
  if (constants) return { type: typeof constants[0] === 'number' ? 'integer' : 'string', enum: constants };
  const values = valuesOf(node);
  if (values) return { type: 'object', additionalProperties: toOpenApi(values) };
  if (node.items) return { type: 'array', items: toOpenApi(node.items) };
  if (!node.properties) return { type: String(node.type) };
  const properties = Object.entries(node.properties);
  const required = properties
    .filter(([name, child]) => node.required?.includes(name) && child.default === undefined)
    .map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, child]) => [name, toOpenApi(child)])),
    ...(required.length > 0 && { required: required.sort() }),
  };
}
