import { type Static, type TSchema, Type } from '@sinclair/typebox';

/**
 * The configuration file, in Trickster's vocabulary. Every key is listed here; a key that is not is an error.
 * Durations are texts with a unit (`500ms`, `1m30s`).
 */
const Duration = (fallback: string): TSchema & { static: string } =>
  Type.String({ default: fallback, format: 'duration' });
const Port = (fallback: number): TSchema & { static: number } =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: fallback });
const closed = { additionalProperties: false } as const;

const NamespacedName = Type.Object(
  { namespace: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) },
  closed,
);

const Connection = Type.Object(
  { in_cluster: Type.Optional(Type.Boolean()), kubeconfig: Type.Optional(Type.String({ minLength: 1 })) },
  closed,
);

const LeaderElection = Type.Object(
  {
    enabled: Type.Boolean({ default: true }),
    namespace: Type.Optional(Type.String({ minLength: 1 })),
    name: Type.String({ default: 'trickster-gateway-controller', minLength: 1 }),
    lease_duration: Duration('15s'),
    renew_deadline: Duration('10s'),
    retry_period: Duration('2s'),
  },
  { ...closed, default: {} },
);

/** `kubernetes.defaults`, and the same keys in the ConfigMap of a GatewayClass: checked by the translation. */
const Defaults = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
  default: {},
});

const Kubernetes = Type.Object(
  {
    connection: Type.Optional(Connection),
    gateway_class_controller_name: Type.String({
      default: 'trickstercache.org/gateway-controller',
      pattern: '^[^/\\s]+/.+$',
    }),
    watch_namespaces: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
    namespace_selector: Type.Optional(Type.Record(Type.String(), Type.String())),
    resync_interval: Duration('10m'),
    debounce_window: Duration('5ms'),
    read_only: Type.Boolean({ default: false }),
    leader_election: LeaderElection,
    published_service: Type.Optional(NamespacedName),
    defaults: Defaults,
  },
  { ...closed, default: {} },
);

const Cache = Type.Object(
  {
    provider: Type.Literal('memory', { default: 'memory' }),
    memory: Type.Object(
      { max_size_bytes: Type.Integer({ default: 536_870_912, minimum: 0 }) },
      { ...closed, default: {} },
    ),
    max_object_size_bytes: Type.Integer({ default: 524_288, minimum: 0 }),
  },
  { ...closed, default: {} },
);

const NegativeCache = Type.Record(Type.String({ pattern: '^[3-5]\\d\\d$' }), Duration('3s'));

const ListenerTuning = Type.Object(
  {
    connections_limit: Type.Integer({ default: 0, minimum: 0 }),
    read_header_timeout: Duration('10s'),
    max_request_body_size_bytes: Type.Integer({ default: 10_485_760, minimum: -1 }),
    proxy_protocol: Type.Boolean({ default: false }),
    trusted_proxies: Type.Array(Type.String({ format: 'cidr' }), { default: [] }),
  },
  { ...closed, default: {} },
);

const Engine = Type.Object(
  {
    workers: Type.Integer({ default: 0, minimum: 0, maximum: 256 }),
    wire: Type.Union([Type.Literal('auto'), Type.Literal('handle'), Type.Literal('net')], {
      default: 'auto',
    }),
  },
  { ...closed, default: {} },
);

const Management = Type.Object(
  {
    listen_address: Type.String({ default: '127.0.0.1' }),
    listen_port: Port(8484),
    shutdown_delay: Duration('0s'),
    shutdown_drain_timeout: Duration('30s'),
  },
  { ...closed, default: {} },
);

const MetricsListener = Type.Object(
  { listen_address: Type.String({ default: '' }), listen_port: Port(8481) },
  { ...closed, default: {} },
);

const Logging = Type.Object(
  {
    log_level: Type.Union(
      ['trace', 'debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level)),
      { default: 'info' },
    ),
  },
  { ...closed, default: {} },
);

const AccessLog = Type.Object(
  {
    enabled: Type.Boolean({ default: false }),
    format: Type.String({ default: 'json', minLength: 1 }),
    sample_rate: Type.Number({ default: 1, minimum: 0, maximum: 1 }),
  },
  { ...closed, default: {} },
);

const DemoOrigin = Type.Object(
  {
    listen_address: Type.String({ default: '127.0.0.1' }),
    listen_ports: Type.Array(Port(0), { minItems: 1 }),
  },
  closed,
);

export const OptionsSchema = Type.Object(
  {
    kubernetes: Kubernetes,
    caches: Type.Record(Type.String(), Cache, { default: { default: {} } }),
    negative_caches: Type.Record(Type.String(), NegativeCache, { default: { default: {} } }),
    /** `default`, and by port for what differs there. */
    listeners: Type.Record(Type.String({ pattern: '^(default|\\d{1,5})$' }), ListenerTuning, {
      default: { default: {} },
    }),
    engine: Engine,
    mgmt: Management,
    metrics: MetricsListener,
    logging: Logging,
    access_log: AccessLog,
    demo_origin: Type.Optional(DemoOrigin),
  },
  closed,
);

export type RawOptions = Static<typeof OptionsSchema>;
