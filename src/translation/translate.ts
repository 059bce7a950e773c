/**
 * Translation: objects of the cluster become what the engine serves and what their statuses say.
 *
 * In: a `TranslationInput`. Out: a `Translation`. It reads nothing else and throws for no input. A translator
 * remembers the pass before: what did not change is the same object (`===`), which is how the engine and the status
 * writer find out what did. The result equals that of a translator that remembers nothing.
 */
import type { EndpointSlice } from '../apis/core/endpoint-slice.js';
import { SERVICE_NAME_LABEL } from '../apis/core/endpoint-slice.js';
import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { Kind } from '../apis/kinds.js';
import type { PublishedAddresses } from '../graph/addresses.js';
import { backendTlsOf, type BackendTlsSettlement } from '../graph/settle-backend-tls.js';
import { GraphBuilder } from '../graph/build-graph.js';
import type { CertificateNode } from '../graph/certificate.js';
import type { Graph } from '../graph/graph.js';
import { InfrastructurePlanner } from '../graph/plan-infrastructure.js';
import type { Libraries } from '../graph/libraries.js';
import { Memo } from '../graph/memo.js';
import { ObjectIndex } from '../graph/object-index.js';
import { withMore } from '../graph/plan-events.js';
import { StatusPlanner } from '../graph/plan-statuses.js';
import type { GraphSettings } from '../graph/settings.js';
import type { ListenerSettings } from '../ir/listener.js';
import type { ProxyConfiguration } from '../ir/proxy-configuration.js';
import type { Certificate } from '../ir/tls.js';
import type { Upstream } from '../ir/upstream.js';
import { sortedBy } from '../util/collections.js';
import { AttachedRoutes, type RoutesByHostname } from './attached-routes.js';
import { GatewayTraits } from './gateway-traits.js';
import { ListenerWriter } from './listeners.js';
import { RouteWriter } from './routes.js';
import { collectSockets } from './sockets.js';
import { toCertificate } from './tls.js';
import type { Translation } from './translation.js';
import { distinctRequests, type UpstreamRequest } from './upstream-request.js';
import { toUpstream } from './upstreams.js';

export interface TranslationSettings extends GraphSettings {
  /** Tuning of the sockets of a port; the same object for the same port. */
  readonly listenerSettings: (port: number) => ListenerSettings;
}

export interface TranslationInput {
  readonly cluster: ClusterSnapshot;
  /** Of the published Service; undefined when none is configured. */
  readonly publishedAddresses: PublishedAddresses;
  /** Kinds whose CRD is there. */
  readonly installedKinds: ReadonlySet<Kind>;
}

/** Translates one input after the other; remembers what it can use again. */
export type Translator = (input: TranslationInput) => Translation;

export function createTranslator(settings: TranslationSettings, libraries: Libraries): Translator {
  const state = new TranslatorState(settings, libraries);
  return (input) => state.translate(input);
}

/** One pass without a memory. */
export function translate(
  settings: TranslationSettings,
  libraries: Libraries,
  input: TranslationInput,
): Translation {
  return createTranslator(settings, libraries)(input);
}

const NO_ROUTES: RoutesByHostname = new Map();

class TranslatorState {
  readonly #settings: TranslationSettings;
  readonly #graph: GraphBuilder;
  readonly #statuses: StatusPlanner;
  readonly #infrastructure = new InfrastructurePlanner();
  readonly #traits = new GatewayTraits();
  readonly #routes: RouteWriter;
  readonly #attached = new AttachedRoutes();
  readonly #listeners = new ListenerWriter();
  readonly #upstreams = new Memo<Upstream>();
  readonly #certificates = new Memo<Certificate | undefined>();
  readonly #slices = new ObjectIndex<EndpointSlice>(serviceOf);

  constructor(settings: TranslationSettings, libraries: Libraries) {
    this.#settings = settings;
    this.#graph = new GraphBuilder(settings, libraries);
    this.#statuses = new StatusPlanner(settings);
    this.#routes = new RouteWriter(libraries);
  }

  translate(input: TranslationInput): Translation {
    const graph = this.#graph.build(input);
    const { statuses, events } = this.#statuses.plan(graph, input);
    const configuration = this.#configure(graph, input.cluster);
    const more = this.#routes.eventsOf(configuration.upstreams);
    this.#endPass();
    return {
      configuration,
      statuses,
      events: withMore(events, more),
      infrastructure: this.#infrastructure.plan(graph),
    };
  }

  #configure(graph: Graph, cluster: ClusterSnapshot): ProxyConfiguration {
    const traits = this.#traits.of(graph);
    const attached = this.#attached.collect(graph);
    this.#routes.begin(graph.policies.cacheSettings);
    const written = this.#listeners.write({
      sockets: collectSockets(graph),
      routesOf: ({ key }) => attached.get(key) ?? NO_ROUTES,
      use: (route, gateway) => {
        this.#routes.use(route, gateway, traits.get(gateway));
      },
      traitsOf: (gateway) => traits.get(gateway) ?? { routingMode: 'endpoint' },
      settingsOf: this.#settings.listenerSettings,
    });
    const routes = this.#routes.written();
    const upstreams = this.#writeUpstreams(
      written.requests.length === 0
        ? routes.requests
        : distinctRequests([...written.requests, ...routes.requests]),
      cluster,
      graph.policies.backendTlsSettlement,
    );
    return {
      listeners: written.listeners,
      virtualHosts: written.virtualHosts,
      routes: routes.routes,
      upstreams,
      certificates: this.#writeCertificates(graph),
      policies: routes.policies,
    };
  }

  #writeUpstreams(
    requests: readonly UpstreamRequest[],
    cluster: ClusterSnapshot,
    settlement: BackendTlsSettlement,
  ): readonly Upstream[] {
    const slices = this.#slices.of(cluster.EndpointSlice);
    return requests.map((request) => {
      const id = `${request.target.namespace}/${request.target.service}`;
      const parts = {
        service: cluster.Service.get(id),
        slices: slices.get(id) ?? [],
        backendTls: request.allowsTls ? backendTlsOf(request.target, settlement) : undefined,
      };
      const inputs = [request, parts.service, parts.slices, parts.backendTls];
      return this.#upstreams.get(request.key, inputs, () => toUpstream(request, parts));
    });
  }

  /** Of all listeners that are served, and those that Gateways show to backends. */
  #writeCertificates(graph: Graph): readonly Certificate[] {
    const nodes = new Map<string, CertificateNode>();
    const add = (node: CertificateNode): void => {
      nodes.set(node.key, node);
    };
    for (const owner of [...graph.gateways, ...graph.listenerSets]) {
      for (const { node, served } of owner.listeners) if (served) node.tls?.certificates.forEach(add);
    }
    for (const { node } of graph.gateways) if (node.clientCertificate) add(node.clientCertificate);
    return sortedBy(nodes.values(), ({ key }) => key).flatMap(
      (node) => this.#certificates.get(node.key, [node], () => toCertificate(node)) ?? [],
    );
  }

  #endPass(): void {
    this.#routes.endPass();
    this.#listeners.endPass();
    this.#upstreams.endPass();
    this.#certificates.endPass();
  }
}

function serviceOf({ metadata }: EndpointSlice): readonly string[] {
  const service = metadata.labels?.[SERVICE_NAME_LABEL];
  return service === undefined ? [] : [`${metadata.namespace}/${service}`];
}
