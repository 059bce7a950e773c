import type { ProxyConfiguration } from '../ir/proxy-configuration.js';
import type { HeldStatus } from '../status/status-store.js';
import { type Handler, json } from './http-endpoint.js';
import type { Readiness } from './readiness.js';

/** What the management port shows; asked at each request. */
export interface ManagementView {
  readonly readiness: Readiness;
  configuration(): ProxyConfiguration | undefined;
  statuses(): readonly HeldStatus[];
  /** What is wrong with the input beyond what a status says, for example files that cannot be read. */
  problems(): readonly string[];
  /** What would be done with a request; undefined before the first configuration. */
  explain(request: { method: string; url: URL; headers: readonly string[] }): object | undefined;
}

/** Paths of the management port; names are Trickster's where it has them. */
export function managementHandlers(view: ManagementView): Record<string, Handler> {
  return {
    '/trickster/ping': () => ({ status: 200, body: 'pong\n' }),
    '/trickster/ready': () => ({
      status: view.readiness.ready ? 200 : 503,
      body: `${view.readiness.state}\n`,
    }),
    '/trickster/config': () => {
      const configuration = view.configuration();
      // Private keys print themselves as "redacted".
      return configuration ? json(configuration) : { status: 503, body: 'not programmed\n' };
    },
    '/trickster/status': () => json(view.statuses()),
    '/trickster/explain': ({ searchParams }) => {
      const url = searchParams.get('url') ?? '';
      if (!URL.canParse(url)) return { status: 400, body: 'the parameter url must be a whole URL\n' };
      const explained = view.explain({
        method: searchParams.get('method') ?? 'GET',
        url: new URL(url),
        headers: searchParams.getAll('header'),
      });
      return explained ? json(explained) : { status: 503, body: 'not programmed\n' };
    },
    '/trickster/problems': () => json(view.problems()),
  };
}
