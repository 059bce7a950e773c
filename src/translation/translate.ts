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
import { Memo, sameItems } from '../graph/memo.js';
import { ObjectIndex } from '../graph/object-index.js';
import { withMore } from '../graph/plan-events.js';
import { StatusPlanner, type PlannedStatuses } from '../graph/plan-statuses.js';
import type { PlannedInfrastructure } from '../graph/status-plan.js';
import type { GraphSettings } from '../graph/settings.js';
import type { ListenerSettings } from '../ir/listener.js';
import type { ProxyConfiguration } from '../ir/proxy-configuration.js';
import type { Certificate } from '../ir/tls.js';
import type { Upstream } from '../ir/upstream.js';
import { sortedBy } from '../util/collections.js';
import { AttachedRoutes, type RoutesByHostname } from './attached-routes.js';
import { GatewayTraits } from './gateway-traits.js';
import { ListenerWriter } from './listeners.js';
import { noEndpointsEvents } from './no-endpoints-events.js';
import { RouteWriter, type WrittenRoute } from './routes.js';
import { SocketCollector } from './sockets.js';
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

/** What one graph came to. */
interface Written {
  readonly graph: Graph;
  readonly installedKinds: ReadonlySet<Kind>;
  readonly planned: PlannedStatuses;
  readonly configuration: Omit<ProxyConfiguration, 'upstreams'>;
  readonly routes: readonly WrittenRoute[];
  readonly requests: readonly UpstreamRequest[];
  readonly infrastructure: readonly PlannedInfrastructure[];
}

interface WrittenUpstreams {
  readonly shaping: readonly unknown[];
  readonly upstreams: readonly Upstream[];
}

class TranslatorState {
  readonly #settings: TranslationSettings;
  readonly #graph: GraphBuilder;
  readonly #statuses: StatusPlanner;
  readonly #infrastructure = new InfrastructurePlanner();
  readonly #traits = new GatewayTraits();
  readonly #routes: RouteWriter;
  readonly #attached = new AttachedRoutes();
  readonly #sockets = new SocketCollector();
  readonly #listeners = new ListenerWriter();
  readonly #upstreams = new Memo<Upstream>();
  readonly #certificates = new Memo<Certificate | undefined>();
  readonly #slices = new ObjectIndex<EndpointSlice>(serviceOf);
  #lastUpstreams: WrittenUpstreams | undefined;
  #last: Written | undefined;

  constructor(settings: TranslationSettings, libraries: Libraries) {
    this.#settings = settings;
    this.#graph = new GraphBuilder(settings, libraries);
    this.#statuses = new StatusPlanner(settings);
    this.#routes = new RouteWriter(libraries);
  }

  translate(input: TranslationInput): Translation {
    const graph = this.#graph.build(input);
    const last = this.#last;
    const isSame = last?.graph === graph && last.installedKinds === input.installedKinds;
    const written = isSame ? last : this.#write(graph, input);
    this.#last = written;
    const { configuration, planned, requests, infrastructure } = written;
    const { listeners, virtualHosts, routes, certificates, policies } = configuration;
    const upstreams = this.#writeUpstreams(requests, input.cluster, graph.policies.backendTlsSettlement);
    return {
      configuration: { listeners, virtualHosts, routes, upstreams, certificates, policies },
      statuses: planned.statuses,
      events: withMore(planned.events, noEndpointsEvents(written.routes, upstreams)),
      infrastructure,
    };
  }

  /** Everything but upstreams, which alone depend on endpoints. */
  #write(graph: Graph, { installedKinds }: TranslationInput): Written {
    const planned = this.#statuses.plan(graph, { installedKinds });
    const traits = this.#traits.of(graph);
    const attached = this.#attached.collect(graph);
    this.#routes.begin({ settings: graph.policies.cacheSettings, traits });
    const listeners = this.#listeners.write({
      sockets: this.#sockets.collect(graph),
      routesOf: ({ key }) => attached.get(key) ?? NO_ROUTES,
      use: (asked, gateway) => {
        this.#routes.use(asked, gateway);
      },
      traitsOf: (gateway) => traits.get(gateway) ?? { routingMode: 'endpoint' },
      settingsOf: this.#settings.listenerSettings,
    });
    const routes = this.#routes.written();
    const certificates = this.#writeCertificates(graph);
    this.#routes.endPass();
    this.#listeners.endPass();
    this.#certificates.endPass();
    return {
      graph,
      installedKinds,
      planned: { ...planned, events: withMore(planned.events, listeners.events) },
      configuration: {
        listeners: listeners.listeners,
        virtualHosts: listeners.virtualHosts,
        routes: routes.written.map(({ route }) => route),
        certificates,
        policies: routes.policies,
      },
      routes: routes.written,
      requests:
        listeners.requests.length === 0
          ? routes.requests
          : distinctRequests([...listeners.requests, ...routes.requests]),
      infrastructure: this.#infrastructure.plan(graph),
    };
  }

  #writeUpstreams(
    requests: readonly UpstreamRequest[],
    cluster: ClusterSnapshot,
    settlement: BackendTlsSettlement,
  ): readonly Upstream[] {
    const shaping = [requests, cluster.Service, cluster.EndpointSlice, settlement];
    const last = this.#lastUpstreams;
    if (last && sameItems(last.shaping, shaping)) return last.upstreams;
    const slices = this.#slices.of(cluster.EndpointSlice);
    const upstreams = requests.map((request) => {
      const id = `${request.target.namespace}/${request.target.service}`;
      const parts = {
        service: cluster.Service.get(id),
        slices: slices.get(id) ?? [],
        backendTls: request.allowsTls ? backendTlsOf(request.target, settlement) : undefined,
      };
      const inputs = [request, parts.service, parts.slices, parts.backendTls];
      return this.#upstreams.get(request.key, inputs, () => toUpstream(request, parts));
    });
    this.#upstreams.endPass();
    this.#lastUpstreams = { shaping, upstreams };
    return upstreams;
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
}

function serviceOf({ metadata }: EndpointSlice): readonly string[] {
  const service = metadata.labels?.[SERVICE_NAME_LABEL];
  return service === undefined ? [] : [`${metadata.namespace}/${service}`];
}
