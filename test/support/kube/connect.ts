import { KubeConfig } from '@kubernetes/client-node';

import { HttpKubeClient } from '../../../src/kube/http-kube-client.js';
import { KubeAuthentication } from '../../../src/kube/kube-authentication.js';
import { systemClock } from '../../../src/util/clock.js';

export function configFor(server: string, token = 'first'): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: true }, { name: 'user', token });
  return config;
}

/** A client of a plain HTTP server, as the fake API server is one. */
export function connect(server: string, load = () => configFor(server)): HttpKubeClient {
  return new HttpKubeClient(new KubeAuthentication(load, systemClock), 'trickster-gateway/test');
}
