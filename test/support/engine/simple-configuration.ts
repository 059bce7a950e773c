import type { HttpFilter } from '../../../src/ir/http-filter.js';
import { DEFAULT_LISTENER_SETTINGS, type Listener } from '../../../src/ir/listener.js';
import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../../../src/ir/proxy-configuration.js';

export interface SimpleConfiguration {
  readonly port: number;
  readonly address?: string;
  readonly origins: readonly { readonly address: string; readonly port: number }[];
  readonly filters?: readonly HttpFilter[];
}

export const keyOfPort = (port: number, address = '127.0.0.1'): string => `tcp/${address}:${String(port)}`;

/** One listener that sends everything to the origins. */
export function simpleConfiguration({
  port,
  address = '127.0.0.1',
  origins,
  filters = [],
}: SimpleConfiguration): ProxyConfiguration {
  const key = keyOfPort(port, address);
  const listener: Listener = {
    key,
    address,
    port,
    transport: 'tcp',
    protocol: 'http',
    servers: [
      {
        hostname: '',
        listeners: ['Gateway/ns/gw/http'],
        application: { type: 'http', virtualHosts: [`${key}|*|*`] },
      },
    ],
    settings: DEFAULT_LISTENER_SETTINGS,
  };
  return {
    ...EMPTY_CONFIGURATION,
    listeners: [listener],
    virtualHosts: [{ key: `${key}|*|*`, hostname: '', routes: ['HTTPRoute/ns/r@Gateway/ns/gw'] }],
    routes: [
      {
        key: 'HTTPRoute/ns/r@Gateway/ns/gw',
        kind: 'HTTPRoute',
        namespace: 'ns',
        name: 'r',
        createdAt: 0,
        rules: [
          {
            index: 0,
            matches: [{ path: { type: 'prefix', value: '' }, headers: [], queryParams: [] }],
            filters,
            backends: [{ weight: 1, upstream: 'Service/ns/s/80', filters: [] }],
            timeouts: {},
          },
        ],
      },
    ],
    upstreams: [
      {
        key: 'Service/ns/s/80',
        protocol: 'http',
        endpoints: origins.map((origin) => ({ address: origin.address, port: origin.port })),
        loadBalancing: 'rr',
        connectTimeoutMs: 1_000,
      },
    ],
  };
}
