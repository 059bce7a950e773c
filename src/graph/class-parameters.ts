import { parseDuration } from '../util/duration.js';
import { nearest } from '../util/nearest.js';

/** `kubernetes.defaults` and the ConfigMap of `GatewayClass.spec.parametersRef`: the same keys, the same meaning. */
export interface ClassParameters {
  /** `service` dials the ClusterIP, `endpoint` the addresses of the EndpointSlices. */
  readonly routingMode: 'endpoint' | 'service';
  readonly addressing: Addressing;
  /** Lifts the ownership of hosts between the namespaces of one Gateway namespace. */
  readonly crossNamespacePaths: boolean;
  /** HTTPRoutes and GRPCRoutes may share a hostname on a listener. */
  readonly allowMixedRoutes: boolean;
  readonly cacheName?: string;
  readonly negativeCacheName?: string;
  /** Time in ms an upstream has to answer. */
  readonly timeoutMs: number;
}

/** Where a Gateway's address comes from: that of the published Service, or one of an AddressPool. */
type Addressing = 'shared' | 'pool';

export const DEFAULT_CLASS_PARAMETERS: ClassParameters = {
  routingMode: 'endpoint',
  addressing: 'shared',
  crossNamespacePaths: false,
  allowMixedRoutes: false,
  timeoutMs: 60_000,
};

/** Named sections of the configuration file that parameters and policies may point to. */
export interface ConfiguredNames {
  readonly caches: ReadonlySet<string>;
  readonly negativeCaches: ReadonlySet<string>;
}

type ParsedParameters =
  | { readonly ok: true; readonly parameters: ClassParameters }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the keys of a ConfigMap (or of the configuration file) over `base`. Every bad key is reported. */
export function parseClassParameters(
  values: Readonly<Record<string, string>>,
  base: ClassParameters,
  names: ConfiguredNames,
): ParsedParameters {
  const problems: string[] = [];
  let parameters = base;
  for (const key of Object.keys(values).sort()) {
    const reader = READERS.get(key);
    const result = reader ? reader((values[key] ?? '').trim(), names) : unknownKey(key);
    if (typeof result === 'string') problems.push(`${key}: ${result}`);
    else parameters = { ...parameters, ...result };
  }
  return problems.length === 0 ? { ok: true, parameters } : { ok: false, problems };
}

/** What a key sets, or what is wrong with its value. */
type Reader = (text: string, names: ConfiguredNames) => Partial<ClassParameters> | string;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['routing_mode', oneOf(['endpoint', 'service'], (routingMode) => ({ routingMode }))],
  ['addressing', oneOf(['shared', 'pool'], (addressing) => ({ addressing }))],
  ['cross_namespace_paths', flag((crossNamespacePaths) => ({ crossNamespacePaths }))],
  ['allow_mixed_routes', flag((allowMixedRoutes) => ({ allowMixedRoutes }))],
  ['cache_name', (text, { caches }) => named(text, caches, 'caches') ?? { cacheName: text }],
  [
    'negative_cache_name',
    (text, { negativeCaches }) =>
      named(text, negativeCaches, 'negative_caches') ?? { negativeCacheName: text },
  ],
  ['timeout', timeout],
  // What follows has one value that this build can honour. The others are refused: a class that asks for a control
  // must not be served without it.
  ['health_mode', only('provider')],
  ['load_balancing', only('rr')],
  ['sticky', only('none')],
  ['load_balancing_key', unsupported],
  ['sticky_key', unsupported],
  ['sticky_ttl', unsupported],
  ['sticky_idle', unsupported],
  ['sticky_secret', unsupported],
  ['tracing_name', unsupported],
  ['req_rewriter_name', unsupported],
  ['authenticator_name', unsupported],
  ['ip_acl_name', unsupported],
  ['rate_limiter_name', unsupported],
]);

function oneOf<const V extends string>(
  values: readonly V[],
  set: (value: V) => Partial<ClassParameters>,
): Reader {
  return (text) => {
    const value = values.find((candidate) => candidate === text);
    return value === undefined ? `"${text}" is not one of ${values.join(', ')}` : set(value);
  };
}

function flag(set: (value: boolean) => Partial<ClassParameters>): Reader {
  return oneOf(['true', 'false'], (text) => set(text === 'true'));
}

function only(value: string): Reader {
  return (text) => (text === value ? {} : `"${text}" is not supported, only "${value}" is`);
}

function unsupported(): string {
  return 'is not supported';
}

function timeout(text: string): Partial<ClassParameters> | string {
  const timeoutMs = parseDuration(text);
  return timeoutMs === undefined ? `"${text}" is not a duration with a unit` : { timeoutMs };
}

function named(name: string, known: ReadonlySet<string>, section: string): string | undefined {
  return known.has(name) ? undefined : `"${name}" is not in ${section} of the configuration file`;
}

function unknownKey(key: string): string {
  const like = nearest(key, READERS.keys());
  return like === undefined ? 'unknown key' : `unknown key, did you mean ${like}?`;
}
