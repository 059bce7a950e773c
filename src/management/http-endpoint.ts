import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { OperatorError, messageOf } from '../util/errors.js';

/** Answers GET (and HEAD) requests of one path. */
export type Handler = (url: URL) => Promise<Reply> | Reply;

export interface Reply {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
}

export interface EndpointOptions {
  /** `''` is every address of both families. */
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly handlers: Readonly<Record<string, Handler>>;
}

/**
 * A small HTTP server for operators: health, metrics, configuration. It is not the data plane and never carries
 * its traffic. Anything but a known path is 404, anything but GET and HEAD is 405.
 */
export class HttpEndpoint {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Rejects with ERR_ENVIRONMENT when the port cannot be had. */
  static async listen({ address, port, handlers }: EndpointOptions): Promise<HttpEndpoint> {
    const server = createServer((request, response) => {
      void respond(handlers, request, response);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const place = `${address === '' ? '*' : address}:${String(port)}`;
        reject(
          new OperatorError('ERR_ENVIRONMENT', `cannot listen on ${place}: ${messageOf(error)}`, {
            cause: error,
          }),
        );
      });
      server.listen({ port, ...(address !== '' && { host: address }) }, resolve);
    });
    return new HttpEndpoint(server);
  }

  get port(): number {
    // A listening TCP server has an address object; the text form is for pipes.
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function respond(
  handlers: EndpointOptions['handlers'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const reply = await replyTo(handlers, request);
  response.writeHead(reply.status, {
    'content-type': reply.contentType ?? 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}

async function replyTo(handlers: EndpointOptions['handlers'], request: IncomingMessage): Promise<Reply> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, body: 'only GET\n' };
  try {
    const url = new URL(request.url ?? '/', 'http://management');
    const handler = Object.hasOwn(handlers, url.pathname) ? handlers[url.pathname] : undefined;
    if (!handler) return { status: 404, body: `known paths: ${Object.keys(handlers).join(' ')}\n` };
    return await handler(url);
  } catch (error) {
    return { status: 500, body: `${messageOf(error)}\n` };
  }
}

export function json(value: unknown): Reply {
  return { status: 200, contentType: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` };
}
