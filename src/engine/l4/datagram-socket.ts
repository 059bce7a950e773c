import { createSocket, type Socket, type SocketOptions } from 'node:dgram';
import { isIPv6 } from 'node:net';

/** Most bytes that wait to be sent; datagrams beyond are dropped, as a full queue anywhere on their way would. */
const SEND_QUEUE_BYTES = 1024 * 1024;

/** A socket of the family of `address`; sending needs no look-up, because only addresses are sent to. */
export function datagramSocket(address: string, options: Pick<SocketOptions, 'reusePort'> = {}): Socket {
  const family = isIPv6(address) ? 6 : 4;
  return createSocket({
    ...options,
    type: family === 6 ? 'udp6' : 'udp4',
    lookup: (literal, _options, done) => {
      done(null, literal, family);
    },
  });
}

export function hasRoom(socket: Socket): boolean {
  return socket.getSendQueueSize() < SEND_QUEUE_BYTES;
}
