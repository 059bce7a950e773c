import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors';

import { fieldPath, itemPath, type FieldProblem } from './field-problem.js';
import { constantsOf, type SchemaNode } from './schema-node.js';

/** Whether the values at fault may be shown: not those of Secrets. */
export type Shown = 'values' | 'no-values';

/** Says in words what TypeBox found, once for each place. */
export function describeErrors(
  errors: Iterable<ValueError>,
  root: unknown,
  shown: Shown,
): readonly FieldProblem[] {
  const messages = new Map<string, string>();
  for (const error of errors) {
    const path = toFieldPath(error.path, root);
    if (!messages.has(path)) messages.set(path, describe(error, shown));
  }
  return [...messages].map(([path, message]) => ({ path, message }));
}

function describe({ type, schema, value }: ValueError, shown: Shown): string {
  const node: SchemaNode = schema;
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return `is required${expectation(node)}`;
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${plural(node.minItems, 'element')}`;
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${plural(node.maxItems, 'element')}`;
    case ValueErrorType.ObjectMaxProperties:
      return `must have at most ${plural(node.maxProperties, 'key')}`;
    case ValueErrorType.StringMinLength:
      return 'must not be empty';
    case ValueErrorType.StringMaxLength:
      return `must have at most ${plural(node.maxLength, 'character')}`;
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return `must be ${bounds(node.minimum, node.maximum)}${instead(value, shown)}`;
    case ValueErrorType.StringPattern:
      return `must be ${node.form ?? `of the form ${String(node.pattern)}`}${instead(value, shown)}`;
    default:
      return `must be ${expected(node)}${instead(value, shown)}${quoteHint(node, value)}`;
  }
}

/** What a schema asks for, in words. */
function expected(node: SchemaNode): string {
  const constants = constantsOf(node);
  if (constants) return `one of ${constants.map((value) => String(value)).join(', ')}`;
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.form !== undefined) return node.form;
  if (node.anyOf) return node.anyOf.map((option) => expected(option)).join(' or ');
  return NOUNS[node.type ?? ''] ?? 'something else';
}

const NOUNS: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
};

function expectation(node: SchemaNode): string {
  const constants = constantsOf(node);
  if (constants) return `: ${expected(node)}`;
  return node.form === undefined ? '' : `: ${node.form}`;
}

function instead(value: unknown, shown: Shown): string {
  if (value === null) return ', not null';
  if (Array.isArray(value)) return ', not a list';
  if (typeof value === 'object') return ', not a map';
  if (shown === 'no-values') return typeof value === 'string' ? '' : `, not a ${typeof value}`;
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return `, not ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

/** YAML reads `on`, `8080` and `1.0` as something other than text. */
function quoteHint(node: SchemaNode, value: unknown): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  return node.type === 'string' && scalar ? ' (put it in quotes)' : '';
}

function bounds(minimum: number | undefined, maximum: number | undefined): string {
  if (maximum === undefined) return `at least ${String(minimum)}`;
  return minimum === undefined
    ? `at most ${String(maximum)}`
    : `from ${String(minimum)} to ${String(maximum)}`;
}

function plural(count: number | undefined, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** RFC 6901 to our form; only the value tells an index from a key. */
function toFieldPath(pointer: string, root: unknown): string {
  let path = '';
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path = Array.isArray(value) ? itemPath(path, Number(name)) : fieldPath(path, name);
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  return path;
}
