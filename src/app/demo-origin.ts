import { createServer, type Server } from 'node:http';
import { once } from 'node:events';

/**
 * A small origin to try the gateway with: it says what it was asked. Answers below `/cached` may be stored for a
 * minute. Started only when the configuration asks for it.
 */
export class DemoOrigin {
  readonly #servers: readonly Server[];

  private constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  static async listen(address: string, ports: readonly number[]): Promise<DemoOrigin> {
    const servers = ports.map((port, index) =>
      createDemoServer(`demo-v${String(index + 1)}`).listen(port, address),
    );
    await Promise.all(servers.map((server) => once(server, 'listening')));
    return new DemoOrigin(servers);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }
}

function createDemoServer(name: string): Server {
  let served = 0;
  return createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    served += 1;
    const path = request.url ?? '/';
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (path.startsWith('/cached')) response.setHeader('cache-control', 'max-age=60');
    response.end(
      `${JSON.stringify({ service: name, method: request.method, path, host: request.headers.host, served })}\n`,
    );
  });
}
