import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

export interface Received {
  readonly bytes: Buffer;
  /** Port of the sender. */
  readonly from: number;
}

/** A UDP socket of the loopback address with everything that it has received. */
export class UdpPeer {
  readonly datagrams: Received[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes, { port }) => this.datagrams.push({ bytes, from: port }));
  }

  static async silent(): Promise<UdpPeer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new UdpPeer(socket);
  }

  static async answering(answer: (datagram: Buffer) => Buffer): Promise<UdpPeer> {
    const peer = await UdpPeer.silent();
    peer.#socket.on('message', (bytes, { port, address }) => {
      peer.#socket.send(answer(bytes), port, address);
    });
    return peer;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  send(datagram: Buffer | string, port: number): void {
    this.#socket.send(datagram, port, '127.0.0.1');
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}
