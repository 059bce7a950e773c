import { Container } from 'inversify';
import { Subscription } from 'rxjs';

import type { PassOutcome } from '../aggregation/control-pass.js';
import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { Kind } from '../apis/kinds.js';
import type { ObjectRef } from '../graph/status-plan.js';
import type { ProxyConfiguration } from '../ir/proxy-configuration.js';
import { HttpEndpoint } from '../management/http-endpoint.js';
import { managementHandlers } from '../management/management-handlers.js';
import { Readiness } from '../management/readiness.js';
import type { Logger } from '../telemetry/logger.js';
import { TOKENS } from '../tokens.js';
import { createTranslator } from '../translation/translate.js';
import type { Translation } from '../translation/translation.js';
import { HeapTrimmer } from '../util/heap-trimmer.js';
import { DemoOrigin } from './demo-origin.js';
import { engineModule } from './engine-module.js';
import { explainRequest } from './explain.js';
import { filesInput } from './files-input.js';
import type { ConnectedInput } from './input.js';
import { createLibraries } from './libraries.js';
import { pipelineModule } from './pipeline-module.js';
import { publishedAddresses } from './published-addresses.js';
import { referencedSecrets } from './referenced-secrets.js';
import { durationOf, type RunOptions } from './run-options.js';
import { telemetryModule } from './telemetry-module.js';
import { translationSettings } from './translation-settings.js';

/** Without a pass for so long, a burst of changes is over. */
const QUIET_MS = 2_000;
/** Changes that never pause so long are one burst for no longer than this. */
const BURST_MS = 60_000;

interface Parts {
  readonly container: Container;
  readonly input: ConnectedInput;
  readonly onApplied: (outcome: PassOutcome) => void;
}

async function connect({ input, raw, version }: RunOptions, container: Container): Promise<ConnectedInput> {
  const clock = container.get(TOKENS.Clock);
  const logger = container.get(TOKENS.Logger);
  if (input.type === 'files') {
    const debounceMs = durationOf(raw.kubernetes.debounce_window);
    return filesInput({ directory: input.directory, debounceMs, clock, logger });
  }
  // The client of the API server takes half a second and a hundred megabytes to load: only who needs it pays.
  const { clusterInput } = await import('./cluster-input.js');
  return clusterInput({ input, raw, version, clock, logger, metrics: container.get(TOKENS.Metrics) });
}

/** A running gateway. */
export class GatewayProcess {
  readonly #options: RunOptions;
  readonly #container: Container;
  readonly #input: ConnectedInput;
  readonly #logger: Logger;
  readonly #readiness = new Readiness();
  readonly #subscriptions = new Subscription();
  readonly #translate: (cluster: ClusterSnapshot) => Translation;
  readonly #onApplied: (outcome: PassOutcome) => void;
  readonly #endpoints: HttpEndpoint[] = [];
  readonly #heap = new HeapTrimmer({ quietMs: QUIET_MS, longestMs: BURST_MS });
  #origin: DemoOrigin | undefined;
  #installedKinds: ReadonlySet<Kind> = new Set();
  #cluster: ClusterSnapshot | undefined;
  #configuration: ProxyConfiguration | undefined;
  #problems: readonly string[] = [];

  /**
   * Rejects with ERR_CONFIG_INVALID or ERR_ENVIRONMENT. `onApplied` hears of each configuration that was put into
   * service.
   */
  static async create(
    options: RunOptions,
    onApplied: (outcome: PassOutcome) => void = () => undefined,
  ): Promise<GatewayProcess> {
    const container = new Container();
    container.load(telemetryModule(options));
    return new GatewayProcess(options, { container, input: await connect(options, container), onApplied });
  }

  private constructor(options: RunOptions, { container, input, onApplied }: Parts) {
    this.#options = options;
    this.#onApplied = onApplied;
    this.#container = container;
    this.#input = input;
    this.#translate = this.#createTranslate();
    container.load(
      engineModule(options),
      pipelineModule(options, { translate: (cluster) => this.#translate(cluster), settleMs: input.settleMs }),
    );
    this.#logger = container.get(TOKENS.Logger);
    input.bind(container);
  }

  /** Resolves when the ports for operators are open; rejects with ERR_ENVIRONMENT when they cannot be had. */
  async start(): Promise<void> {
    await this.#openEndpoints();
    await this.#startOrigin();
    const error = (problem: unknown): void => {
      this.#logger.fatal({ err: problem }, 'a stream of the control plane failed, this is a bug');
    };
    this.#subscriptions.add(
      this.#input.installedKinds$.subscribe({
        next: (kinds) => {
          this.#installedKinds = kinds;
        },
        error,
      }),
    );
    this.#subscriptions.add(
      this.#input.problems$.subscribe({
        next: (problems) => {
          this.#reportProblems(problems);
        },
        error,
      }),
    );
    this.#subscriptions.add(this.#followLeadership(error));
    this.#subscriptions.add(
      this.#container.get(TOKENS.Aggregator).outcomes$.subscribe({
        next: (outcome) => {
          this.#publish(outcome);
        },
        error,
      }),
    );
    this.#input.start();
  }

  /** Not ready, then drained, then ended. `immediately` ends everything at once. */
  async stop(immediately: AbortSignal): Promise<void> {
    const { shutdown_delay: delay, shutdown_drain_timeout: timeout } = this.#options.raw.mgmt;
    const engine = this.#container.get(TOKENS.Engine);
    this.#readiness.draining();
    this.#logger.info({}, 'draining');
    const clock = this.#container.get(TOKENS.Clock);
    await clock.sleep(durationOf(delay), immediately);
    if (!immediately.aborted) {
      await Promise.race([engine.drain(durationOf(timeout)), aborted(immediately)]);
    }
    await engine.close();
    this.#subscriptions.unsubscribe();
    this.#heap.stop();
    await this.#input.stop();
    await this.#origin?.close();
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
    this.#logger.info({}, 'stopped');
  }

  #createTranslate(): (cluster: ClusterSnapshot) => Translation {
    const { raw } = this.#options;
    const settings = translationSettings(raw);
    const libraries = createLibraries(Date.now, (secret) => this.#lastGoodCertificate(secret));
    const translator = createTranslator(settings, libraries);
    return (cluster) => {
      this.#cluster = cluster;
      return translator({
        cluster,
        publishedAddresses: publishedAddresses(cluster, raw.kubernetes.published_service),
        installedKinds: this.#installedKinds,
      });
    };
  }

  /** What is served under a Secret serves on while the Secret is broken or gone. */
  #lastGoodCertificate(secret: string) {
    const served = this.#configuration?.certificates.find(({ key }) => key === `Secret/${secret}`);
    return served && { chain: served.chain, privateKey: served.privateKey.reveal() };
  }

  async #openEndpoints(): Promise<void> {
    const { mgmt, metrics } = this.#options.raw;
    const registry = this.#container.get(TOKENS.Metrics);
    const statuses = this.#container.get(TOKENS.StatusStore);
    this.#endpoints.push(
      await HttpEndpoint.listen({
        address: mgmt.listen_address,
        port: mgmt.listen_port,
        handlers: managementHandlers({
          readiness: this.#readiness,
          configuration: () => this.#configuration,
          statuses: () => statuses.list(),
          problems: () => this.#problems,
          explain: (request) => this.#configuration && explainRequest(this.#configuration, request),
        }),
      }),
      await HttpEndpoint.listen({
        address: metrics.listen_address,
        port: metrics.listen_port,
        handlers: {
          '/metrics': async () => ({
            status: 200,
            contentType: registry.registry.contentType,
            body: await registry.text(),
          }),
        },
      }),
    );
  }

  async #startOrigin(): Promise<void> {
    const { demo_origin: demo } = this.#options.raw;
    if (demo) this.#origin = await DemoOrigin.listen(demo.listen_address, demo.listen_ports);
  }

  #followLeadership(error: (problem: unknown) => void): Subscription {
    const metrics = this.#container.get(TOKENS.Metrics);
    return this.#container.get(TOKENS.LeaderElection).leadership$.subscribe({
      next: ({ leading }) => {
        metrics.set('leader', leading ? 1 : 0);
      },
      error,
    });
  }

  #reportProblems(problems: readonly string[]): void {
    const known = new Set(this.#problems);
    for (const problem of problems) if (!known.has(problem)) this.#logger.warn({ problem }, 'input problem');
    this.#problems = problems;
  }

  #publish(outcome: PassOutcome): void {
    this.#configuration = outcome.configuration;
    const cluster = this.#cluster;
    if (outcome.result) this.#readiness.programmed();
    this.#container.get(TOKENS.StatusSink).publish(outcome.statuses);
    this.#container.get(TOKENS.EventSink).publish(outcome.events, (object) => exists(cluster, object));
    this.#input.publishInfrastructure(outcome.infrastructure);
    if (cluster) {
      const { gateway_class_controller_name: controllerName } = this.#options.raw.kubernetes;
      this.#input.requestSecrets(referencedSecrets(cluster, controllerName));
    }
    if (outcome.result) this.#onApplied(outcome);
    this.#heap.worked();
  }
}

function exists(cluster: ClusterSnapshot | undefined, { kind, namespace, name }: ObjectRef): boolean {
  return cluster?.[kind].has(namespace === '' ? name : `${namespace}/${name}`) ?? false;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener('abort', () => {
        resolve();
      });
  });
}
