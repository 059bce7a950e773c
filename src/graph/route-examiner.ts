import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { GrpcRoute } from '../apis/gateway/grpc-route.js';
import type { HttpRoute } from '../apis/gateway/http-route.js';
import type { TcpRoute } from '../apis/gateway/tcp-route.js';
import type { TlsRoute } from '../apis/gateway/tls-route.js';
import type { UdpRoute } from '../apis/gateway/udp-route.js';
import { attachRoute, type ParentNode } from './attachment.js';
import type { GraphContext } from './context.js';
import { examineGrpcRules, type GrpcRulesNode } from './grpc-route.js';
import { examineHttpRules, type HttpRulesNode } from './http-route.js';
import type { RouteKind } from './listener.js';
import { RecordedMemo, type Tables } from './lookup.js';
import { Memo } from './memo.js';
import { objectRefOf } from './object-ref.js';
import { createdAtOf } from './precedence.js';
import type { RouteNode } from './route.js';
import type { Rows } from './rows.js';
import { examineStreamRules, type StreamRulesNode } from './stream-route.js';

type AnyRoute = HttpRoute | GrpcRoute | TlsRoute | TcpRoute | UdpRoute;

/** Examines the routes of all kinds, each on its own. */
export class RouteExaminer {
  readonly #context: GraphContext;
  readonly #parents = new RecordedMemo<Rows, readonly ParentNode[]>();
  readonly #http = new RecordedMemo<Rows, HttpRulesNode>();
  readonly #grpc = new RecordedMemo<Rows, GrpcRulesNode>();
  readonly #stream = new RecordedMemo<Rows, StreamRulesNode>();
  readonly #nodes = new Memo<RouteNode>();

  constructor(context: GraphContext) {
    this.#context = context;
  }

  /** Every route with a parent of ours, sorted by kind, then `namespace/name`. */
  examine(cluster: ClusterSnapshot, tables: Tables<Rows>): readonly RouteNode[] {
    const nodes: RouteNode[] = [];
    const collect = (node: RouteNode | undefined): void => {
      if (node) nodes.push(node);
    };
    for (const route of sorted(cluster.GRPCRoute)) collect(this.#grpcNode(route, tables));
    for (const route of sorted(cluster.HTTPRoute)) collect(this.#httpNode(route, tables));
    for (const route of sorted(cluster.TCPRoute)) collect(this.#streamNode('TCPRoute', route, tables));
    for (const route of sorted(cluster.TLSRoute)) collect(this.#streamNode('TLSRoute', route, tables));
    for (const route of sorted(cluster.UDPRoute)) collect(this.#streamNode('UDPRoute', route, tables));
    return nodes;
  }

  endPass(): void {
    this.#parents.endPass();
    this.#http.endPass();
    this.#grpc.endPass();
    this.#stream.endPass();
    this.#nodes.endPass();
  }

  #httpNode(route: HttpRoute, tables: Tables<Rows>): RouteNode | undefined {
    const key = keyOf('HTTPRoute', route);
    const parents = this.#attach(key, 'HTTPRoute', route, tables);
    if (parents.length === 0) return undefined;
    const rules = this.#http.get(key, [route], tables, (lookup) =>
      examineHttpRules(route, { ...this.#context, lookup }),
    );
    return this.#nodes.get(key, [route, parents, rules], () => ({
      ...describe(key, 'HTTPRoute', route),
      kind: 'HTTPRoute',
      parents,
      rules,
    }));
  }

  #grpcNode(route: GrpcRoute, tables: Tables<Rows>): RouteNode | undefined {
    const key = keyOf('GRPCRoute', route);
    const parents = this.#attach(key, 'GRPCRoute', route, tables);
    if (parents.length === 0) return undefined;
    const rules = this.#grpc.get(key, [route], tables, (lookup) =>
      examineGrpcRules(route, { ...this.#context, lookup }),
    );
    return this.#nodes.get(key, [route, parents, rules], () => ({
      ...describe(key, 'GRPCRoute', route),
      kind: 'GRPCRoute',
      parents,
      rules,
    }));
  }

  #streamNode(
    kind: 'TLSRoute' | 'TCPRoute' | 'UDPRoute',
    route: TlsRoute | TcpRoute | UdpRoute,
    tables: Tables<Rows>,
  ): RouteNode | undefined {
    const key = keyOf(kind, route);
    const parents = this.#attach(key, kind, route, tables);
    if (parents.length === 0) return undefined;
    const owner = { kind, namespace: route.metadata.namespace };
    const rules = this.#stream.get(key, [route], tables, (lookup) =>
      examineStreamRules(route.spec.rules, owner, { ...this.#context, lookup }),
    );
    return this.#nodes.get(key, [route, parents, rules], () => ({
      ...describe(key, kind, route),
      kind,
      parents,
      rules,
    }));
  }

  #attach(key: string, kind: RouteKind, route: AnyRoute, tables: Tables<Rows>): readonly ParentNode[] {
    return this.#parents.get(key, [route], tables, (lookup) =>
      attachRoute(
        {
          kind,
          namespace: route.metadata.namespace,
          parentRefs: route.spec.parentRefs ?? [],
          hostnames: 'hostnames' in route.spec ? route.spec.hostnames : undefined,
        },
        { ...this.#context, lookup },
      ),
    );
  }
}

function keyOf(kind: RouteKind, { metadata }: AnyRoute): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

function describe(key: string, kind: RouteKind, route: AnyRoute) {
  const { namespace, name, generation = 0 } = route.metadata;
  return {
    key,
    id: `${namespace}/${name}`,
    createdAt: createdAtOf(route),
    namespace,
    name,
    ref: objectRefOf(kind, route),
    generation,
  };
}

/** Sorting is what makes the result independent of the order in which objects arrived. */
function sorted<V>(objects: ReadonlyMap<string, V>): readonly V[] {
  return [...objects.keys()].sort().flatMap((key) => objects.get(key) ?? []);
}
