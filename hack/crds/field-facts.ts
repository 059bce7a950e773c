import type { OpenApiSchema } from './open-api.js';

/** Path of a field under `spec` → its type, bounds and default in one line. */
export type FieldFacts = Readonly<Record<string, string>>;

const FACTS = [
  'enum',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

/** What two schemas must have in common to accept and complete the same objects, rules in CEL apart. */
export function fieldFacts(spec: OpenApiSchema): FieldFacts {
  return Object.fromEntries([...walk(spec, 'spec', true)].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* walk(schema: OpenApiSchema, path: string, required: boolean): Generator<[string, string]> {
  yield [path, describe(schema, required)];
  for (const [name, child] of Object.entries(schema.properties ?? {}))
    yield* walk(child, `${path}.${name}`, schema.required?.includes(name) ?? false);
  if (schema.items) yield* walk(schema.items, `${path}[]`, false);
  if (schema.additionalProperties) yield* walk(schema.additionalProperties, `${path}{}`, false);
}

function describe(schema: OpenApiSchema, required: boolean): string {
  const facts = FACTS.flatMap((name) => {
    const value = schema[name];
    if (value === undefined) return [];
    return [
      `${name.replace('x-kubernetes-', '')}=${JSON.stringify(sorted(name === 'enum' ? list(value) : value))}`,
    ];
  });
  return [schema.type ?? '', ...(required ? ['required'] : []), ...facts].join(' ');
}

function list(value: unknown): unknown {
  return Array.isArray(value) ? value.map(String).sort() : value;
}

/** The same value with its keys in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
