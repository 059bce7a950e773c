import {
  BehaviorSubject,
  combineLatest,
  distinctUntilChanged,
  finalize,
  ignoreElements,
  map,
  merge,
  shareReplay,
  tap,
  type Observable,
  type SchedulerLike,
} from 'rxjs';

import { KINDS, type Kind, type KindDescription } from '../apis/kinds.js';
import type { ObjectsByKind } from '../apis/objects.js';
import type { Logger } from '../telemetry/logger.js';
import type { BackoffLimits } from './backoff.js';
import type { Discovery } from './discovery.js';
import { narrowToNamespaces } from './filter-objects.js';
import { followDiscovery } from './follow-discovery.js';
import { followKeys } from './follow-keys.js';
import type { KubeClient, Selection } from './kube-client.js';
import type { KubeMetrics } from './kube-metrics.js';
import { KubeListWatch } from './list-watch.js';
import { mergeSnapshots, sameSnapshot } from './merge-snapshots.js';
import type { Decoded, ObjectFault } from './object-store.js';
import { Reflector, type SourceHealth } from './reflector.js';
import { collectionPath, type ServedKind } from './resource-path.js';
import type { ResourceSnapshot, ResourceSource } from './resource-source.js';
import { sameValue } from './same-value.js';
import type { StatusCache } from './status-cache.js';

/** Which namespaces are looked at. */
export type NamespaceScope =
  | { readonly mode: 'all' }
  /** `watch_namespaces`: one watch per namespace and kind, no cluster-wide read of namespaced kinds. */
  | { readonly mode: 'names'; readonly names: readonly string[] }
  /** `namespace_selector` in the text form of label selectors, `tier=app,env in (a, b)`; the API server evaluates it. */
  | { readonly mode: 'selector'; readonly selector: string };

/** Validates an object of a kind and keeps of it what is read. */
type DecodeKind = <K extends Kind>(kind: K, raw: unknown) => Decoded<ObjectsByKind[K]>;

export interface KubeSourcesOptions {
  readonly client: KubeClient;
  readonly discovery: Pick<Discovery, 'served$' | 'probeSoon'>;
  readonly decode: DecodeKind;
  readonly scope: NamespaceScope;
  readonly statuses: StatusCache;
  readonly metrics: KubeMetrics;
  readonly logger: Logger;
  /** Services read wherever they are, `namespace/name`: the published one. */
  readonly publishedServices?: readonly string[];
  readonly resyncMs?: number;
  readonly backoff?: BackoffLimits;
  readonly scheduler?: SchedulerLike;
  readonly random?: () => number;
}

export interface KindFault extends ObjectFault {
  readonly kind: Kind;
}

/** Kinds with a status that this controller writes. */
const WITH_STATUS: ReadonlySet<Kind> = new Set<Kind>([
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'UDPRoute',
  'BackendTLSPolicy',
  'XBackendTrafficPolicy',
  'TricksterCachePolicy',
]);

const TLS_SECRETS: Selection = { fieldSelector: 'type=kubernetes.io/tls' };
/** No other name can exist; what users write elsewhere as a name must not get into a field selector. */
const SECRET_KEY = /^[a-z0-9-]+\/[a-z0-9.-]+$/;
/** Each is a connection of its own. */
const MAX_NAMED_SECRETS = 256;

/** Makes the source of every kind from one API server: discovery, namespaces, Secrets by name, health and faults. */
export class KubeSources {
  /** By source (a kind may have several); for readiness and its diagnosis. */
  readonly health$: Observable<ReadonlyMap<string, SourceHealth>>;
  readonly faults$: Observable<readonly KindFault[]>;
  readonly #options: KubeSourcesOptions;
  readonly #health$ = new BehaviorSubject<ReadonlyMap<string, SourceHealth>>(new Map());
  readonly #faults$ = new BehaviorSubject<ReadonlyMap<string, readonly KindFault[]>>(new Map());
  readonly #wantedSecrets$ = new BehaviorSubject<ReadonlySet<string>>(new Set());
  readonly #namespaces$: Observable<ReadonlySet<string>>;
  #secretsSettled = true;

  constructor(options: KubeSourcesOptions) {
    this.#options = options;
    this.health$ = this.#health$.asObservable();
    this.faults$ = this.#faults$.pipe(map((faults) => [...faults.values()].flat()));
    this.#namespaces$ = this.#follow('Namespace').pipe(
      map((namespaces): ReadonlySet<string> => new Set(namespaces.keys())),
      distinctUntilChanged((a, b) => sameValue([...a].sort(), [...b].sort())),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
  }

  /** The source of one kind; call it once per kind. */
  source<K extends Kind>(kind: K): ResourceSource<ObjectsByKind[K]> {
    return {
      kind,
      snapshots$: this.#follow(kind).pipe(shareReplay({ bufferSize: 1, refCount: true })),
    };
  }

  /** Which Secrets (`namespace/name`) something refers to: those that are no kubernetes.io/tls are watched one by one. */
  requestNamedSecrets(keys: ReadonlySet<string>): void {
    if (sameValue([...keys].sort(), [...this.#wantedSecrets$.value].sort())) return;
    this.#wantedSecrets$.next(keys);
  }

  /** Whether all requested Secrets have been looked up; before that, a missing one may just not be here yet. */
  get namedSecretsSettled(): boolean {
    return this.#secretsSettled;
  }

  #follow<K extends Kind>(kind: K): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    const description = describeKind(kind);
    return followDiscovery(description, this.#options.discovery.served$, (served) => {
      const inScope$ = this.#narrowed(served, this.#openAll(kind, served));
      const published = kind === 'Service' ? (this.#options.publishedServices ?? []) : [];
      if (this.#options.scope.mode === 'all' || published.length === 0) return inScope$;
      return mergeSnapshots([inScope$, ...published.map((key) => this.#openOne(kind, served, key))]);
    });
  }

  #openAll<K extends Kind>(kind: K, served: ServedKind): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    const selection = kind === 'Secret' ? TLS_SECRETS : {};
    const all$ = mergeSnapshots(
      this.#targets(kind, served, selection).map((target) => this.#reflect(kind, target)),
    );
    return kind === 'Secret' ? this.#withNamedSecrets(kind, served, all$) : all$;
  }

  #targets(kind: Kind, served: ServedKind, selection: Selection): readonly Target[] {
    const { scope } = this.#options;
    const path = collectionPath(served);
    if (kind === 'Namespace') {
      if (scope.mode === 'selector') return [{ path, labelSelector: scope.selector }];
      // Allowed by a role that names the namespaces.
      if (scope.mode === 'names')
        return scope.names.map((name) => ({ path, fieldSelector: `metadata.name=${name}` }));
    }
    if (scope.mode !== 'names' || !served.namespaced) return [{ path, ...selection }];
    return scope.names.map((name) => ({ path: collectionPath(served, name), ...selection }));
  }

  #narrowed<K extends Kind>(
    served: ServedKind,
    all$: Observable<ResourceSnapshot<ObjectsByKind[K]>>,
  ): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    if (this.#options.scope.mode !== 'selector' || !served.namespaced) return all$;
    return all$.pipe(narrowToNamespaces(this.#namespaces$));
  }

  #withNamedSecrets<K extends Kind>(
    kind: K,
    served: ServedKind,
    tls$: Observable<ResourceSnapshot<ObjectsByKind[K]>>,
  ): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    const shared$ = tls$.pipe(shareReplay({ bufferSize: 1, refCount: true }));
    const named$ = followKeys(
      combineLatest([this.#wantedSecrets$, shared$]).pipe(
        map(([wanted, tls]) => this.#namedOnly(wanted, tls)),
        distinctUntilChanged((a, b) => sameValue([...a], [...b])),
      ),
      (key) => this.#openOne(kind, served, key),
    ).pipe(
      tap(({ settled }) => {
        this.#secretsSettled = settled;
      }),
    );
    return combineLatest([named$, shared$]).pipe(
      map(([named, tls]) => (named.snapshot.size === 0 ? tls : new Map([...named.snapshot, ...tls]))),
      distinctUntilChanged(sameSnapshot),
    );
  }

  #namedOnly(wanted: ReadonlySet<string>, tls: ReadonlyMap<string, unknown>): ReadonlySet<string> {
    const { scope, logger } = this.#options;
    const inScope = (key: string): boolean =>
      SECRET_KEY.test(key) &&
      (scope.mode !== 'names' || scope.names.includes(key.slice(0, key.indexOf('/'))));
    const named = [...wanted].filter((key) => !tls.has(key) && inScope(key)).sort();
    if (named.length > MAX_NAMED_SECRETS) {
      logger.warn({ wanted: named.length, limit: MAX_NAMED_SECRETS }, 'too many Secrets are named');
    }
    return new Set(named.slice(0, MAX_NAMED_SECRETS));
  }

  #openOne<K extends Kind>(
    kind: K,
    served: ServedKind,
    key: string,
  ): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    const slash = key.indexOf('/');
    const path = collectionPath(served, key.slice(0, slash));
    return this.#reflect(kind, { path, fieldSelector: `metadata.name=${key.slice(slash + 1)}` });
  }

  #reflect<K extends Kind>(kind: K, target: Target): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    const { client, discovery, decode, statuses, metrics, logger, ...rest } = this.#options;
    const { resyncMs, backoff, scheduler, random } = rest;
    const reflector = new Reflector<ObjectsByKind[K]>({
      kind,
      listWatch: new KubeListWatch(client, target, random),
      decode: (raw) => decode(kind, raw),
      metrics,
      logger,
      recovered$: client.recovered$,
      onMissing: () => {
        discovery.probeSoon();
      },
      ...(WITH_STATUS.has(kind) ? { observer: statuses.observer(kind) } : {}),
      ...(resyncMs === undefined ? {} : { resyncMs }),
      ...(backoff === undefined ? {} : { backoff }),
      ...(scheduler === undefined ? {} : { scheduler }),
      ...(random === undefined ? {} : { random }),
    });
    return this.#observed(reflector, `${kind} ${target.path} ${target.fieldSelector ?? ''}`.trim());
  }

  /** Health and faults of a reflector are known while it is followed. */
  #observed<K extends Kind>(
    { kind, snapshots$, health$, faults$ }: Reflector<ObjectsByKind[K]>,
    id: string,
  ): Observable<ResourceSnapshot<ObjectsByKind[K]>> {
    return merge(
      health$.pipe(
        tap((health) => {
          this.#health$.next(new Map([...this.#health$.value, [id, health]]));
        }),
        ignoreElements(),
      ),
      faults$.pipe(
        tap((faults) => {
          const ofKind = [...faults.values()].map((fault) => ({ kind, ...fault }));
          if (ofKind.length === 0 && !this.#faults$.value.has(id)) return;
          this.#faults$.next(new Map([...this.#faults$.value, [id, ofKind]]));
        }),
        ignoreElements(),
      ),
      snapshots$,
    ).pipe(
      finalize(() => {
        this.#health$.next(without(this.#health$.value, id));
        this.#faults$.next(without(this.#faults$.value, id));
      }),
    );
  }
}

interface Target extends Selection {
  readonly path: string;
}

function describeKind(kind: Kind): KindDescription {
  const found = KINDS.find((description) => description.kind === kind);
  if (found === undefined) throw new Error(`${kind} is not in the table of kinds`);
  return found;
}

function without<V>(values: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  return new Map([...values].filter(([other]) => other !== key));
}
