import { readFileSync } from 'node:fs';

import { KubeConfig } from '@kubernetes/client-node';

import { messageOf, OperatorError } from '../util/errors.js';

/** Where credentials come from. Without a path: the service account of the pod, else `$KUBECONFIG`, else `~/.kube/config`. */
export interface KubeConfigLocation {
  readonly kubeconfig?: string;
  readonly inCluster?: boolean;
}

/**
 * Reads the configuration of the API client. Throws ERR_ENVIRONMENT with the file and the cause.
 * It is called again when credentials are refused, so a rotated file or token is picked up.
 */
export function loadKubeConfig({ kubeconfig, inCluster = false }: KubeConfigLocation): KubeConfig {
  const config = new KubeConfig();
  try {
    if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
    else if (inCluster) config.loadFromCluster();
    else config.loadFromDefault();
  } catch (error) {
    const where = kubeconfig ?? (inCluster ? 'the service account' : 'the default kubeconfig');
    throw new OperatorError('ERR_ENVIRONMENT', `${where} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (config.getCurrentCluster() === null) {
    throw new OperatorError(
      'ERR_ENVIRONMENT',
      `${kubeconfig ?? 'the default kubeconfig'}: no cluster for context "${config.getCurrentContext()}"`,
    );
  }
  return config;
}

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** The namespace this process runs in: of the pod, else of the context, else `default`. */
export function ownNamespace(config: KubeConfig, file = NAMESPACE_FILE): string {
  try {
    const namespace = readFileSync(file, 'utf8').trim();
    if (namespace !== '') return namespace;
  } catch {
    // Outside of a pod there is no such file.
  }
  return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default';
}
