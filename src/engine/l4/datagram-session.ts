import type { Socket } from 'node:dgram';
import { Timer, type TimerWheel } from '../exchange/timer-wheel.js';
import { datagramSocket, hasRoom } from './datagram-socket.js';
import type { StreamDestination } from './stream-destination.js';
import type { EndpointUser, StreamEndpoint } from './stream-endpoint.js';

/** Time in ms without a datagram in either direction after which a session is over. */
const IDLE_MS = 60_000;
/** Datagrams that may wait for the socket to be there: a turn of the event loop. */
const EARLY_LIMIT = 64;

export interface DatagramSessionInit {
  /** Key of the upstream that the endpoint is of. */
  readonly upstream: string;
  readonly endpoint: StreamEndpoint;
  readonly destination: StreamDestination;
  readonly wheel: TimerWheel;
  readonly onReply: (datagram: Buffer) => void;
  readonly onOver: () => void;
}

/** One client address and port with the endpoint that all its datagrams go to. */
export class DatagramSession extends Timer implements EndpointUser {
  readonly upstream: string;
  /** What sent it here; replaced when the configuration was and still sends it here. */
  destination: StreamDestination;
  readonly #init: DatagramSessionInit;
  readonly #socket: Socket;
  #early: Buffer[] | undefined = [];
  /** Nothing is sent any more. It may be so from the start, when there is no socket left. */
  over = false;

  constructor(init: DatagramSessionInit) {
    super();
    this.#init = init;
    this.upstream = init.upstream;
    this.destination = init.destination;
    const { endpoint } = init.endpoint;
    const socket = datagramSocket(endpoint.address);
    this.#socket = socket;
    socket.on('error', this.#fail);
    socket.on('message', (datagram) => {
      if (this.over) return;
      init.wheel.arm(this, IDLE_MS);
      init.onReply(datagram);
    });
    socket.on('connect', () => {
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const datagram of early) this.send(datagram);
    });
    init.endpoint.add(this);
    // A connected socket takes replies of its endpoint only, and hears when nobody listens there.
    socket.connect(endpoint.port, endpoint.address);
  }

  send(datagram: Buffer): void {
    if (this.over) return;
    this.#init.wheel.arm(this, IDLE_MS);
    if (this.#early) {
      if (this.#early.length < EARLY_LIMIT) this.#early.push(datagram);
    } else if (hasRoom(this.#socket)) this.#socket.send(datagram, this.#sent);
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    const { wheel, endpoint, onOver } = this.#init;
    wheel.remove(this);
    endpoint.remove(this);
    this.#socket.close();
    onOver();
  }

  /** Datagrams to who is not there are lost, so the next one begins a session with another endpoint. */
  onEndpointGone(): void {
    this.end();
  }

  onEndpointBack(): void {
    // It has ended when the endpoint went.
  }

  override expire(): void {
    this.end();
  }

  readonly #fail = (): void => {
    this.end();
  };

  readonly #sent = (error: Error | null): void => {
    if (error) this.end();
  };
}
