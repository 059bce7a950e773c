import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of the loopback address that nobody listens on at the moment. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  server.close();
  await once(server, 'close');
  if (typeof bound !== 'object' || bound === null) throw new Error('not a TCP address');
  return bound.port;
}
