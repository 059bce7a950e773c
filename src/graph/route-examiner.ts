import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { GrpcRoute } from '../apis/gateway/grpc-route.js';
import type { HttpRoute } from '../apis/gateway/http-route.js';
import type { TcpRoute } from '../apis/gateway/tcp-route.js';
import type { TlsRoute } from '../apis/gateway/tls-route.js';
import type { UdpRoute } from '../apis/gateway/udp-route.js';
import { attachRoute, type ParentNode } from './attachment.js';
import type { GraphContext, Scope } from './context.js';
import { examineGrpcRules, type GrpcRulesNode } from './grpc-route.js';
import { examineHttpRules, type HttpRulesNode } from './http-route.js';
import type { RulesVerdict } from './http-rule.js';
import type { RouteKind } from './listener.js';
import { renew, type Recorded, type Tables } from './lookup.js';
import { keepEqual, PassCache } from './memo.js';
import { objectRefOf } from './object-ref.js';
import { createdAtOf } from './precedence.js';
import type { RouteBase, RouteNode } from './route.js';
import { Interner } from '../util/interner.js';
import type { Rows } from './rows.js';
import { SortedKeys } from './sorted-keys.js';
import { examineStreamRules, type StreamRulesNode } from './stream-route.js';

type AnyRoute = HttpRoute | GrpcRoute | TlsRoute | TcpRoute | UdpRoute;

/** Examines the routes of all kinds, each on its own. */
export class RouteExaminer {
  readonly #http: KindExaminer<HttpRoute, HttpRulesNode>;
  readonly #grpc: KindExaminer<GrpcRoute, GrpcRulesNode>;
  readonly #tcp: KindExaminer<TcpRoute, StreamRulesNode>;
  readonly #tls: KindExaminer<TlsRoute, StreamRulesNode>;
  readonly #udp: KindExaminer<UdpRoute, StreamRulesNode>;

  constructor(context: GraphContext) {
    this.#http = new KindExaminer(context, {
      kind: 'HTTPRoute',
      examineRules: examineHttpRules,
      toNode: (base, rules) => ({ ...base, kind: 'HTTPRoute', rules }),
    });
    this.#grpc = new KindExaminer(context, {
      kind: 'GRPCRoute',
      examineRules: examineGrpcRules,
      toNode: (base, rules) => ({ ...base, kind: 'GRPCRoute', rules }),
    });
    this.#tcp = streamExaminer<TcpRoute>('TCPRoute', context);
    this.#tls = streamExaminer<TlsRoute>('TLSRoute', context);
    this.#udp = streamExaminer<UdpRoute>('UDPRoute', context);
  }

  /** Every route with a parent of ours, sorted by kind, then `namespace/name`. */
  examine(cluster: ClusterSnapshot, tables: Tables<Rows>): readonly RouteNode[] {
    return [
      ...this.#grpc.examine(cluster.GRPCRoute, tables),
      ...this.#http.examine(cluster.HTTPRoute, tables),
      ...this.#tcp.examine(cluster.TCPRoute, tables),
      ...this.#tls.examine(cluster.TLSRoute, tables),
      ...this.#udp.examine(cluster.UDPRoute, tables),
    ];
  }
}

function streamExaminer<R extends TlsRoute | TcpRoute | UdpRoute>(
  kind: 'TLSRoute' | 'TCPRoute' | 'UDPRoute',
  context: GraphContext,
): KindExaminer<R, StreamRulesNode> {
  return new KindExaminer<R, StreamRulesNode>(context, {
    kind,
    examineRules: ({ metadata, spec }, scope) =>
      examineStreamRules(spec.rules, { kind, namespace: metadata.namespace }, scope),
    toNode: (base, rules) => ({ ...base, kind, rules }),
  });
}

/** What is particular to a kind. */
interface KindOfRoute<R, Rules> {
  readonly kind: RouteKind;
  readonly examineRules: (route: R, scope: Scope) => Rules;
  readonly toNode: (base: RouteBase, rules: Rules) => RouteNode;
}

/** What is remembered of a route. Parents and rules are found apart: a change of listeners leaves rules alone. */
interface Entry<R, Rules> {
  readonly route: R;
  readonly tables: Tables<Rows>;
  readonly parents: Recorded<Rows, readonly ParentNode[]>;
  readonly rules?: Recorded<Rows, Rules>;
  /** Absent when no parent is ours. */
  readonly node?: RouteNode;
}

class KindExaminer<R extends AnyRoute, Rules extends RulesVerdict> {
  readonly #context: GraphContext;
  readonly #particular: KindOfRoute<R, Rules>;
  readonly #sortedKeys = new SortedKeys();
  readonly #interner = new Interner();
  readonly #entries = new PassCache<Entry<R, Rules>>();

  constructor(context: GraphContext, particular: KindOfRoute<R, Rules>) {
    this.#context = context;
    this.#particular = particular;
  }

  examine(routes: ReadonlyMap<string, R>, tables: Tables<Rows>): readonly RouteNode[] {
    const nodes: RouteNode[] = [];
    for (const key of this.#sortedKeys.of(routes)) {
      const route = routes.get(key);
      const node = route && this.#examine(key, route, tables);
      if (node) nodes.push(node);
    }
    this.#entries.endPass();
    return nodes;
  }

  #examine(key: string, route: R, tables: Tables<Rows>): RouteNode | undefined {
    const known = this.#entries.find(key);
    // While nothing that could be looked up is another object there is no need to look.
    if (known?.route === route && known.tables === tables) return known.node;
    const entry = this.#renew(known, route, tables);
    this.#entries.set(key, entry);
    return entry.node;
  }

  #renew(known: Entry<R, Rules> | undefined, route: R, tables: Tables<Rows>): Entry<R, Rules> {
    const { kind, examineRules, toNode } = this.#particular;
    const parents = renew(known?.parents, [route], tables, (lookup) =>
      attachRoute(toAttaching(kind, route), { ...this.#context, lookup }),
    );
    if (parents.result.length === 0) return { route, tables, parents };
    const rules = renew(known?.rules, [route], tables, (lookup) =>
      this.#interner.of(examineRules(route, { ...this.#context, lookup })),
    );
    const isSame = known?.node && known.parents === parents && known.rules === rules;
    const node = isSame
      ? known.node
      : keepEqual(known?.node, toNode({ ...describe(kind, route), parents: parents.result }, rules.result));
    return { route, tables, parents, rules, node };
  }
}

function toAttaching(kind: RouteKind, { metadata, spec }: AnyRoute) {
  return {
    kind,
    namespace: metadata.namespace,
    parentRefs: spec.parentRefs ?? [],
    hostnames: 'hostnames' in spec ? spec.hostnames : undefined,
  };
}

function describe(kind: RouteKind, route: AnyRoute) {
  const { namespace, name, generation = 0 } = route.metadata;
  return {
    key: `${kind}/${namespace}/${name}`,
    id: `${namespace}/${name}`,
    createdAt: createdAtOf(route),
    namespace,
    name,
    ref: objectRefOf(kind, route),
    generation,
  };
}
