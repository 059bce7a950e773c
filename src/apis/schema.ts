import { Type, type Static, type TProperties, type TSchema, type TUnsafe } from '@sinclair/typebox';

import type { UnsupportedValue } from './unsupported-value.js';

/**
 * The building blocks of the schemas of all kinds: words of the Gateway API (Hostname, SectionName, …) with the
 * patterns, bounds and defaults that its CRDs have.
 *
 * A property with a `default` is not optional in the TypeScript type: it is filled in before the object is typed.
 * Besides JSON schema's keywords these are ours:
 * - `form`: what a `pattern` means, for people ("a lower-case DNS name")
 * - `apiPattern`: the API's own pattern where `pattern` is an equivalent that needs no backtracking
 * - `unread`: fields of an object that are known, valid and dropped
 * - `absent`: what a missing field of an object from the API server becomes (older versions did not require it)
 * - `open`: a constant that is not listed is read as a value that is not supported (tolerant only)
 * - `keepKeys`: prefixes of the keys of a map that are kept
 */
export type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The type of the objects that a schema describes, all of it readonly. */
export type Described<S extends TSchema> = DeepReadonly<Static<S>>;

/** One of a few constants. */
export function oneOf<const T extends readonly (string | number)[]>(
  values: T,
  options: { readonly default?: T[number]; readonly description?: string; readonly open?: boolean } = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  );
}

/**
 * One of a few constants of an API that may learn more of them: {@link UnsupportedValue} stands for a newer one. What
 * a person writes must be one of the constants.
 */
export function openOneOf<const T extends readonly (string | number)[]>(
  values: T,
  options: { readonly default?: T[number] } = {},
): TUnsafe<T[number] | UnsupportedValue> {
  return Type.Unsafe<T[number] | UnsupportedValue>(oneOf(values, { ...options, open: true }));
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const TOKEN = "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$";

export function subdomain(options: { readonly default?: string } = {}) {
  return Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: `^${SUBDOMAIN}$`,
    form: 'a lower-case DNS name such as "shop.example.com"',
    ...options,
  });
}

/** A host name whose first label may be `*`. */
export function hostname() {
  return Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: `^(\\*\\.)?${SUBDOMAIN}$`,
    form: 'a lower-case DNS name such as "shop.example.com" or "*.example.com"',
  });
}

export function objectName() {
  return Type.String({ minLength: 1, maxLength: 253 });
}

export function namespaceName() {
  return Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: `^${LABEL}$`,
    form: 'a lower-case DNS label such as "infra"',
  });
}

export function group(options: { readonly default?: string } = {}) {
  return Type.String({
    maxLength: 253,
    pattern: `^$|^${SUBDOMAIN}$`,
    form: 'an API group such as "gateway.networking.k8s.io", or "" for core',
    ...options,
  });
}

export function kindName(options: { readonly default?: string } = {}) {
  return Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
    form: 'a kind such as "Service"',
    ...options,
  });
}

export function portNumber() {
  return Type.Integer({ minimum: 1, maximum: 65535 });
}

/** GEP-2257. */
export function duration(options: { readonly default?: string } = {}) {
  return Type.String({
    pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
    form: 'a duration such as "500ms", "10s" or "1h30m"',
    ...options,
  });
}

export function headerName() {
  return Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: TOKEN,
    form: 'the name of an HTTP field such as "X-Tenant"',
  });
}

export function headerValue(options: { readonly absent?: string } = {}) {
  return Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: '^[!-~]+([\\t ][!-~]+)*$',
    apiPattern: '^[!-~]+([\\t ]?[!-~]+)*$',
    form: 'visible ASCII, words separated by one space or tab',
    ...options,
  });
}

/** A list that is replaced as a whole. */
export function atomicList<T extends TSchema>(items: T, options: ListOptions = {}) {
  return Type.Array(items, { 'x-kubernetes-list-type': 'atomic', ...options });
}

/** A list whose elements are told apart by some of their fields. */
export function mapList<T extends TSchema>(items: T, keys: readonly string[], options: ListOptions = {}) {
  return Type.Array(items, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [...keys],
    ...options,
  });
}

/** A list without repetitions. */
export function setList<T extends TSchema>(items: T, options: ListOptions = {}) {
  return Type.Array(items, { 'x-kubernetes-list-type': 'set', ...options });
}

export interface ListOptions {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly unknown[];
  readonly absent?: readonly unknown[];
  readonly description?: string;
  readonly 'x-kubernetes-validations'?: readonly Validation[];
}

/** A CEL rule of our own CRDs. */
export interface Validation {
  readonly rule: string;
  readonly message: string;
}

export interface MapOptions {
  readonly maxProperties?: number;
  readonly description?: string;
  readonly keepKeys?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Validation[];
}

/** A map with any keys. */
export function mapOf<T extends TSchema>(values: T, options: MapOptions = {}) {
  // Keys that TypeBox's pattern for any text misses (it stops at line breaks) must not pass unchecked.
  return Type.Record(Type.String(), values, { ...options, additionalProperties: false });
}

export function textMap(options: MapOptions = {}) {
  return mapOf(Type.String(), options);
}

export function labelValue() {
  return Type.String({
    minLength: 0,
    maxLength: 63,
    pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$',
    form: 'a label value such as "blue": letters, digits, "-", "_" and "."',
  });
}

const metadata = {
  name: subdomain(),
  uid: Type.Optional(Type.String()),
  generation: Type.Optional(Type.Integer()),
  creationTimestamp: Type.Optional(Type.String()),
  deletionTimestamp: Type.Optional(Type.String()),
  labels: Type.Optional(mapOf(labelValue())),
  // Only ours: anybody's heartbeat annotation would otherwise be a change of the object.
  annotations: Type.Optional(textMap({ keepKeys: ['trickstercache.org/'] })),
};

/** The resource version changes with each status write, so it is no part of what was read. */
const unreadMetadata = {
  unread: [
    'resourceVersion',
    'managedFields',
    'ownerReferences',
    'finalizers',
    'generateName',
    'selfLink',
    'deletionGracePeriodSeconds',
  ],
};

/** An object of a namespace. `properties` are what it has besides apiVersion, kind and metadata. */
export function namespaced<K extends string, P extends TProperties>(
  kind: K,
  apiVersion: string,
  properties: P,
  unread: readonly string[] = ['status'],
) {
  return Type.Object(
    {
      // Elements of a list of the API server have neither.
      apiVersion: Type.String({ default: apiVersion }),
      kind: Type.Literal(kind, { default: kind }),
      metadata: Type.Object({ ...metadata, namespace: namespaceName() }, unreadMetadata),
      ...properties,
    },
    { unread },
  );
}

/** An object of the cluster. */
export function clusterScoped<K extends string, P extends TProperties>(
  kind: K,
  apiVersion: string,
  properties: P,
  unread: readonly string[] = ['status'],
) {
  return Type.Object(
    {
      apiVersion: Type.String({ default: apiVersion }),
      kind: Type.Literal(kind, { default: kind }),
      metadata: Type.Object(metadata, unreadMetadata),
      ...properties,
    },
    { unread },
  );
}
