import {
  type ClassParameters,
  DEFAULT_CLASS_PARAMETERS,
  parseClassParameters,
} from '../graph/class-parameters.js';
import type { ReservedPort } from '../graph/settings.js';
import { DEFAULT_LISTENER_SETTINGS, type ListenerSettings } from '../ir/listener.js';
import type { TranslationSettings } from '../translation/translate.js';
import { OperatorError } from '../util/errors.js';
import { formatIp, parseIp } from '../util/ip-range.js';
import type { RawOptions } from './options/schema.js';
import { durationOf, STICKY_SECRET_FILE } from './run-options.js';

/** Throws ERR_CONFIG_INVALID when `kubernetes.defaults` cannot be honoured. */
export function translationSettings(raw: RawOptions): TranslationSettings {
  const names = {
    caches: new Set(Object.keys(raw.caches)),
    negativeCaches: new Set(Object.keys(raw.negative_caches)),
  };
  return {
    controllerName: raw.kubernetes.gateway_class_controller_name,
    reservedPorts: [...reserved(raw.mgmt), ...reserved(raw.metrics)],
    defaults: classDefaults(raw, names),
    names,
    capabilities: { stream: true },
    listenerSettings: listenerSettings(raw),
  };
}

function classDefaults(raw: RawOptions, names: Parameters<typeof parseClassParameters>[2]): ClassParameters {
  const values = Object.fromEntries(
    Object.entries(raw.kubernetes.defaults)
      // The process's own, never that of a class.
      .filter(([key]) => key !== STICKY_SECRET_FILE)
      .map(([key, value]) => [key, String(value)]),
  );
  const parsed = parseClassParameters(values, DEFAULT_CLASS_PARAMETERS, names);
  if (parsed.ok) return parsed.parameters;
  const list = parsed.problems.map((problem) => `\n  kubernetes.defaults.${problem}`).join('');
  throw new OperatorError('ERR_CONFIG_INVALID', `the configuration cannot be used:${list}`);
}

function reserved(listener: { listen_address: string; listen_port: number }): ReservedPort[] {
  if (listener.listen_port === 0) return [];
  const ip = parseIp(listener.listen_address);
  return [{ port: listener.listen_port, ...(ip && { address: formatIp(ip) }) }];
}

/** The same object for the same port, as the translation wants it. */
function listenerSettings(raw: RawOptions): (port: number) => ListenerSettings {
  const byName = new Map(
    Object.entries(raw.listeners).map(([name, tuning]): [string, ListenerSettings] => [
      name,
      {
        connectionsLimit: tuning.connections_limit,
        readHeaderTimeoutMs: durationOf(tuning.read_header_timeout),
        maxRequestBodyBytes: tuning.max_request_body_size_bytes,
        proxyProtocol: tuning.proxy_protocol,
        trustedProxies: tuning.trusted_proxies,
      },
    ]),
  );
  const fallback = byName.get('default') ?? DEFAULT_LISTENER_SETTINGS;
  return (port) => byName.get(String(port)) ?? fallback;
}
