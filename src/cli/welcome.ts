import type { PassOutcome } from '../aggregation/control-pass.js';
import type { RawOptions } from '../app/options/schema.js';
import type { HttpRoute } from '../ir/http.js';
import type { Listener } from '../ir/listener.js';

/** What serves where, for a person who has just started the standalone mode. */
export function welcome({ configuration, result }: PassOutcome, raw: RawOptions): string {
  const lines = ['', 'trickster-gateway is serving', ''];
  const listeners = configuration.listeners.flatMap((listener) => {
    const outcome = result?.listeners.get(listener.key);
    const problem = outcome?.state === 'failed' ? `  NOT OPEN: ${outcome.message}` : '';
    const names = listener.servers.flatMap((server) => server.listeners);
    return [`  ${urlOf(listener)}${problem}`, ...names.map((name) => `      ${name}`)];
  });
  const rules = configuration.routes.flatMap((route) =>
    route.rules.map((rule) => `      ${ruleLine(route, rule)}`),
  );
  lines.push(...shortened(listeners), '', '  routes', ...shortened(rules), '', ...operatorPorts(raw));
  const first = configuration.listeners.find(({ protocol }) => protocol === 'http');
  if (raw.demo_origin && first) {
    lines.push(
      '',
      'Try it: the first answer comes from the origin, the second from the cache (see X-Trickster-Result).',
      '',
      `  curl -i ${urlOf(first)}/cached/hello`,
      `  curl -i ${urlOf(first)}/cached/hello`,
    );
  }
  return `${lines.join('\n')}\n\n`;
}

function operatorPorts({ mgmt, metrics }: RawOptions): readonly string[] {
  const portOf = (listener: RawOptions['metrics']): string =>
    `http://${hostOf(listener.listen_address)}:${String(listener.listen_port)}`;
  return [
    ...(mgmt.listen_port === 0 ? [] : [`  management   ${portOf(mgmt)}/trickster/status`]),
    ...(metrics.listen_port === 0 ? [] : [`  metrics      ${portOf(metrics)}/metrics`]),
  ];
}

const MOST_LINES = 24;

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), `      … and ${String(lines.length - MOST_LINES)} more`];
}

function urlOf({ address, port, protocol }: Listener): string {
  return `${protocol === 'tls' ? 'https' : protocol}://${hostOf(address)}:${String(port)}`;
}

function hostOf(address: string): string {
  if (address === '' || address === '::' || address === '0.0.0.0') return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
}

function ruleLine({ kind, namespace, name }: HttpRoute, rule: HttpRoute['rules'][number]): string {
  const paths = rule.matches.map(({ path }) => (path.type === 'prefix' ? `${path.value}/*` : path.value));
  const cached = rule.backends.some(({ policy }) => policy !== undefined) || rule.policy !== undefined;
  const what = rule.refusal
    ? `${String(rule.refusal.status)} ${rule.refusal.reason}`
    : `${kind} ${namespace}/${name}`;
  return `${paths.join(' ').padEnd(16)} ${what}${rule.name === undefined ? '' : ` (${rule.name})`}${cached ? ', cached' : ''}`;
}
