import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import type { BenchCertificate } from '../bench-certificate.js';
import { freePorts } from '../../../test/support/free-ports.js';
import { ENVOY } from '../paths.js';
import { PinnedProcess, PROXY_CORE } from '../pinned-process.js';
import type { Contender, Setup } from './contender.js';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const MANAGER = 'filters.network.http_connection_manager.v3.HttpConnectionManager';
const MANY = 100_000;

/** One worker, without access log, circuit breakers out of the way. */
export async function startEnvoy(setup: Setup): Promise<Contender> {
  const [http = 0, https = 0] = await freePorts(2);
  const file = path.join(setup.directory, 'envoy.yaml');
  writeFileSync(
    file,
    stringify({
      static_resources: {
        listeners: [listener(http, undefined), listener(https, setup.certificate)],
        clusters: [cluster(setup)],
      },
    }),
  );
  const process = await PinnedProcess.start({
    name: 'envoy',
    core: PROXY_CORE,
    command: [ENVOY, '-c', file, '--concurrency', '1', '--log-level', 'error', '--use-dynamic-base-id'],
    port: http,
  });
  return { name: 'envoy', wire: null, origin: setup.origin, http, https, process };
}

function listener(port: number, certificate: BenchCertificate | undefined): object {
  const manager = {
    '@type': `${EXTENSIONS}.${MANAGER}`,
    stat_prefix: 'bench',
    codec_type: 'AUTO',
    use_remote_address: true,
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'origin', timeout: '0s' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'router',
        typed_config: { '@type': `${EXTENSIONS}.filters.http.router.v3.Router` },
      },
    ],
  };
  return {
    name: `listener-${port}`,
    address: { socket_address: { address: '127.0.0.1', port_value: port } },
    filter_chains: [
      {
        filters: [{ name: 'manager', typed_config: manager }],
        ...(certificate && { transport_socket: transportSocket(certificate) }),
      },
    ],
  };
}

function transportSocket({ chainFile, keyFile }: BenchCertificate): object {
  return {
    name: 'tls',
    typed_config: {
      '@type': `${EXTENSIONS}.transport_sockets.tls.v3.DownstreamTlsContext`,
      common_tls_context: {
        alpn_protocols: ['h2', 'http/1.1'],
        tls_certificates: [
          { certificate_chain: { filename: chainFile }, private_key: { filename: keyFile } },
        ],
      },
    },
  };
}

function cluster({ origin, traffic }: Setup): object {
  const options = {
    '@type': `${EXTENSIONS}.upstreams.http.v3.HttpProtocolOptions`,
    explicit_http_config: traffic === 'grpc' ? { http2_protocol_options: {} } : { http_protocol_options: {} },
  };
  return {
    name: 'origin',
    type: 'STATIC',
    connect_timeout: '5s',
    circuit_breakers: {
      thresholds: [{ max_connections: MANY, max_pending_requests: MANY, max_requests: MANY }],
    },
    typed_extension_protocol_options: { 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': options },
    load_assignment: {
      cluster_name: 'origin',
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: origin } } },
            },
          ],
        },
      ],
    },
  };
}
