/** Every metric the operator publishes: names and labels are Trickster's where it has them. */
export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Upper bounds in the metric's unit, for histograms. */
  readonly buckets?: readonly number[];
}

const PASS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

function metric(
  type: MetricDescription['type'],
  name: string,
  labels: readonly string[],
  help: string,
): MetricDescription {
  return { type, name: `trickster_${name}`, labels, help };
}

export const METRICS = {
  buildInfo: metric('gauge', 'build_info', ['version', 'nodeversion'], 'Always 1; says what runs'),

  frontendRequests: metric(
    'counter',
    'frontend_requests_total',
    ['listener', 'http_status'],
    'Requests answered, by listener and class of status',
  ),
  frontendDuration: {
    ...metric(
      'histogram',
      'frontend_requests_duration_seconds',
      ['listener'],
      'Time from the first byte of a request to the last byte of its answer',
    ),
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20],
  },
  frontendWrittenBytes: metric(
    'counter',
    'frontend_written_bytes_total',
    ['listener'],
    'Bytes of answers, streams and datagrams sent to clients',
  ),
  frontendReadBytes: metric(
    'counter',
    'frontend_read_bytes_total',
    ['listener'],
    'Bytes of requests, streams and datagrams received from clients',
  ),
  acceptedConnections: metric(
    'counter',
    'proxy_accepted_connections_total',
    ['listener'],
    'Connections accepted, UDP sessions begun',
  ),
  activeConnections: metric(
    'gauge',
    'proxy_active_connections',
    ['listener'],
    'Connections and UDP sessions that are open',
  ),
  refusedConnections: metric(
    'counter',
    'proxy_failed_connections_total',
    ['listener'],
    'Connections closed at once because of a limit',
  ),
  failedHandshakes: metric(
    'counter',
    'tls_handshake_failures_total',
    ['listener'],
    'TLS handshakes with clients that failed',
  ),
  upstreamConnections: metric(
    'counter',
    'proxy_upstream_connections_total',
    ['result'],
    'Connections to backends, by result opened or failed',
  ),
  upstreamActive: metric(
    'gauge',
    'proxy_upstream_active_connections',
    [],
    'Connections to backends that are open',
  ),
  upstreamRetries: metric(
    'counter',
    'proxy_upstream_retries_total',
    [],
    'Requests sent to a backend once more',
  ),
  mirrorRequests: metric(
    'counter',
    'proxy_mirror_requests_total',
    ['result'],
    'Copies of requests, by result sent or dropped',
  ),
  proxyRequests: metric(
    'counter',
    'proxy_requests_total',
    ['cache_status'],
    'Requests handled, by what the cache had to say',
  ),
  cacheUsageObjects: metric('gauge', 'cache_usage_objects', [], 'Stored responses'),
  cacheUsageBytes: metric('gauge', 'cache_usage_bytes', [], 'Bytes of stored responses'),
  cacheEvictions: metric('counter', 'cache_events_total', ['event'], 'Events of the cache, by event'),
  certificateExpiration: metric(
    'gauge',
    'tls_certificate_expiration_time_seconds',
    ['certificate'],
    'When a served certificate expires, in seconds since 1970',
  ),

  workerRestarts: metric(
    'counter',
    'engine_worker_restarts_total',
    [],
    'Worker threads that died and were replaced',
  ),
  workerHeapUsed: metric(
    'gauge',
    'engine_worker_heap_used_bytes',
    [],
    'Memory that JavaScript objects of the worker threads take',
  ),
  workerHeap: metric(
    'gauge',
    'engine_worker_heap_bytes',
    [],
    'Memory reserved for JavaScript objects of the worker threads',
  ),

  reconciles: metric(
    'counter',
    'kgw_reconciles_total',
    ['result'],
    'Passes of the control plane, by result applied, unchanged or error',
  ),
  reconcileDuration: {
    ...metric('histogram', 'kgw_reconcile_duration_seconds', [], 'Time of a whole pass'),
    buckets: PASS_BUCKETS,
  },
  reconcileErrors: metric(
    'counter',
    'kgw_reconcile_errors_total',
    ['stage'],
    'Passes that failed, by stage compile, apply, certificates or status',
  ),
  translateDuration: {
    ...metric('histogram', 'kgw_translate_duration_seconds', [], 'Time to translate a snapshot'),
    buckets: PASS_BUCKETS,
  },
  applyDuration: {
    ...metric('histogram', 'kgw_apply_duration_seconds', [], 'Time until every worker served a revision'),
    buckets: PASS_BUCKETS,
  },
  generatedObjects: metric(
    'gauge',
    'kgw_generated_objects',
    ['kind'],
    'Elements of the configuration, by kind listeners, routes, backends, certificates or policies',
  ),
  watchEvents: metric(
    'counter',
    'kgw_watch_events_total',
    ['kind', 'event'],
    'Events received from the API server',
  ),
  relists: metric('counter', 'kgw_relists_total', ['kind', 'reason'], 'Full lists of a kind, by reason'),
  watchErrors: metric('counter', 'kgw_watch_errors_total', ['kind', 'reason'], 'Failed lists and watches'),
  statusWrites: metric('counter', 'kgw_status_writes_total', ['kind'], 'Statuses written'),
  statusWriteFailures: metric(
    'counter',
    'kgw_status_write_failures_total',
    ['kind'],
    'Statuses that could not be written',
  ),
  leader: metric('gauge', 'kgw_leader', [], '1 while this process writes status and Events'),
  lastSync: metric(
    'gauge',
    'kgw_last_successful_sync_time_seconds',
    [],
    'When the last pass succeeded, in seconds since 1970',
  ),
} as const satisfies Record<string, MetricDescription>;
