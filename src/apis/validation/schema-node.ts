import type { Kind, TSchema } from '@sinclair/typebox';

/** The keywords of a schema that are walked over, ours included (see schema.ts). */
export interface SchemaNode extends TSchema {
  readonly [Kind]: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly const?: string | number;
  readonly default?: unknown;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly form?: string;
  readonly unread?: readonly string[];
  readonly absent?: unknown;
  readonly open?: boolean;
  readonly keepKeys?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

/** The schema of the values of a map. */
export function valuesOf(node: SchemaNode): SchemaNode | undefined {
  return node.patternProperties && Object.values(node.patternProperties)[0];
}

/** The constants of a `oneOf`; undefined for any other schema. */
export function constantsOf(node: SchemaNode): readonly (string | number)[] | undefined {
  const constants = node.anyOf?.map((option) => option.const);
  return constants?.every((value) => value !== undefined) ? constants : undefined;
}

/** The schema of a field of the objects that a schema describes. */
export function propertyOf(node: SchemaNode, name: string): SchemaNode | undefined {
  return node.properties?.[name];
}
