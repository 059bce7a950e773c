/**
 * The origin of the cases, run as the pod image `e2e-origin`. The query says how to answer:
 * `status=`, `delay=` (milliseconds), `cc=` (Cache-Control), `set=Name:value`. The body tells who
 * answered, how often it was asked for this path, and the request's x-revision.
 */
import { createServer } from 'node:http';
import { hostname } from 'node:os';

const served = new Map<string, number>();

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://origin');
  const count = (served.get(url.pathname) ?? 0) + 1;
  served.set(url.pathname, count);
  const query = url.searchParams;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const cacheControl = query.get('cc');
  if (cacheControl !== null) headers['cache-control'] = cacheControl;
  for (const pair of query.getAll('set')) {
    const [name = '', value = ''] = pair.split(':', 2);
    headers[name] = value;
  }
  const { host, 'x-revision': revision } = request.headers;
  const body = { pod: hostname(), path: request.url, host, revision, served: count };
  setTimeout(
    () => {
      response.writeHead(Number(query.get('status') ?? 200), headers);
      response.end(`${JSON.stringify(body)}\n`);
    },
    Number(query.get('delay') ?? 0),
  );
});

server.keepAliveTimeout = 120_000;
server.listen(8080);
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
