import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler';

import {
  ConfigMapSchema,
  EndpointSliceSchema,
  NamespaceSchema,
  SecretSchema,
  ServiceSchema,
} from './core/index.js';
import {
  BackendTlsPolicySchema,
  BackendTrafficPolicySchema,
  GatewayClassSchema,
  GatewaySchema,
  GrpcRouteSchema,
  HttpRouteSchema,
  ListenerSetSchema,
  ReferenceGrantSchema,
  TcpRouteSchema,
  TlsRouteSchema,
  UdpRouteSchema,
} from './gateway/index.js';
import { AddressPoolSchema } from './infra/address-pool.js';
import type { Kind } from './kinds.js';
import type { ObjectsByKind } from './objects.js';
import { TricksterCachePolicySchema } from './policy/trickster-cache-policy.js';
import { RULES } from './rules/rules.js';
import type { Rule } from './rules/rule.js';
import { Interner } from '../util/interner.js';
import { describeErrors, type Shown } from './validation/describe-error.js';
import { withoutConsequences, type FieldProblem } from './validation/field-problem.js';
import { compileProjection, type Projection } from './validation/projection.js';
import { relax } from './validation/relax.js';

/*
 * The door of everything that comes from outside. In: what JSON or YAML said. Out: an object of a known kind, with
 * the fields that are read and all defaults, or what is wrong with it. Nothing is typed here by assertion.
 */

export type ParseResult<T> = { readonly object: T } | { readonly problems: readonly FieldProblem[] };

/** Where an object comes from decides how it is checked. */
export type Strictness =
  /** The API server has validated it, maybe by another version: unknown fields are dropped, bounds not repeated. */
  | 'tolerant'
  /** A person has written it: checked as the API server would, CEL rules included; unknown fields are errors. */
  | 'strict';

/** The schema of each kind. */
export const SCHEMAS = {
  GatewayClass: GatewayClassSchema,
  Gateway: GatewaySchema,
  ListenerSet: ListenerSetSchema,
  HTTPRoute: HttpRouteSchema,
  GRPCRoute: GrpcRouteSchema,
  TLSRoute: TlsRouteSchema,
  TCPRoute: TcpRouteSchema,
  UDPRoute: UdpRouteSchema,
  ReferenceGrant: ReferenceGrantSchema,
  BackendTLSPolicy: BackendTlsPolicySchema,
  XBackendTrafficPolicy: BackendTrafficPolicySchema,
  TricksterCachePolicy: TricksterCachePolicySchema,
  AddressPool: AddressPoolSchema,
  Service: ServiceSchema,
  EndpointSlice: EndpointSliceSchema,
  Secret: SecretSchema,
  ConfigMap: ConfigMapSchema,
  Namespace: NamespaceSchema,
} as const satisfies Record<Kind, TSchema>;

/**
 * Reads an object of a kind. Defaults are filled in, fields that nobody reads are dropped, so two results are
 * deeply equal exactly when nothing changed that matters (then keep the older: {@link shareStructure}).
 * Values of Secrets never appear in a problem.
 */
export function parseObject<K extends Kind>(
  kind: K,
  raw: unknown,
  strictness: Strictness = 'tolerant',
): ParseResult<ObjectsByKind[K]> {
  const parser: Parser<ObjectsByKind[K]> = PARSERS[kind];
  return strictness === 'strict' ? parser.parseStrictly(raw) : parser.parse(raw);
}

interface Parser<T> {
  readonly parse: (raw: unknown) => ParseResult<T>;
  readonly parseStrictly: (raw: unknown) => ParseResult<T>;
}

const PARSERS: { readonly [K in Kind]: Parser<ObjectsByKind[K]> } = {
  GatewayClass: createParser(SCHEMAS.GatewayClass, RULES.GatewayClass),
  Gateway: createParser(SCHEMAS.Gateway, RULES.Gateway),
  ListenerSet: createParser(SCHEMAS.ListenerSet, RULES.ListenerSet),
  HTTPRoute: createParser(SCHEMAS.HTTPRoute, RULES.HTTPRoute),
  GRPCRoute: createParser(SCHEMAS.GRPCRoute, RULES.GRPCRoute),
  TLSRoute: createParser(SCHEMAS.TLSRoute, RULES.TLSRoute),
  TCPRoute: createParser(SCHEMAS.TCPRoute, RULES.TCPRoute),
  UDPRoute: createParser(SCHEMAS.UDPRoute, RULES.UDPRoute),
  ReferenceGrant: createParser(SCHEMAS.ReferenceGrant, RULES.ReferenceGrant),
  BackendTLSPolicy: createParser(SCHEMAS.BackendTLSPolicy, RULES.BackendTLSPolicy),
  XBackendTrafficPolicy: createParser(SCHEMAS.XBackendTrafficPolicy, RULES.XBackendTrafficPolicy),
  TricksterCachePolicy: createParser(SCHEMAS.TricksterCachePolicy, RULES.TricksterCachePolicy),
  AddressPool: createParser(SCHEMAS.AddressPool, RULES.AddressPool),
  Service: createParser(SCHEMAS.Service, RULES.Service),
  EndpointSlice: createParser(SCHEMAS.EndpointSlice, RULES.EndpointSlice),
  Secret: createParser(SCHEMAS.Secret, RULES.Secret, 'no-values'),
  ConfigMap: createParser(SCHEMAS.ConfigMap, RULES.ConfigMap),
  Namespace: createParser(SCHEMAS.Namespace, RULES.Namespace),
};

function createParser<S extends TSchema>(
  schema: S,
  rules: readonly Rule<Static<S>>[],
  shown: Shown = 'values',
): Parser<Static<S>> {
  const project = lazy<Projection>(() => compileProjection(schema));
  const tolerant = lazy<TypeCheck<TSchema & { static: Static<S> }>>(() =>
    TypeCompiler.Compile(Type.Unsafe<Static<S>>(relax(schema))),
  );
  const strict = lazy(() => TypeCompiler.Compile(schema));
  return {
    parse: (raw) => {
      const object = project()(raw, '');
      if (tolerant().Check(object)) return { object: withSharedSpec(object) };
      return { problems: describeErrors(tolerant().Errors(object), object, shown) };
    },
    parseStrictly: (raw) => {
      const problems: FieldProblem[] = [];
      const object = project()(raw, '', problems);
      if (!strict().Check(object))
        return {
          problems: withoutConsequences([
            ...problems,
            ...describeErrors(strict().Errors(object), object, shown),
          ]),
        };
      for (const rule of rules) problems.push(...rule(object));
      return problems.length === 0
        ? { object: withSharedSpec(object) }
        : { problems: withoutConsequences(problems) };
    },
  };
}

const interner = new Interner();

/** Objects repeat each other's specs in large parts. Nothing else is shared: a Secret has none, and no other copy. */
function withSharedSpec<T>(object: T): T {
  if (typeof object !== 'object' || object === null || !('spec' in object)) return object;
  const { spec } = object;
  return typeof spec === 'object' && spec !== null ? { ...object, spec: interner.parts(spec) } : object;
}

/** Compiling takes longer than a short-lived command needs for all kinds. */
function lazy<T>(create: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= create());
}
