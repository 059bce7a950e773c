import { Forwarder, RECEIVED, SENT, type Direction, type ForwardedBytes } from '../wire/forwarder.js';
import type { Connection, ConnectionHandler, WireError } from '../wire/wire.js';

/** What of a codec's stream a tunnel needs: both kinds have it. */
interface TunnelStream {
  tunnelEnd(): TunnelEnd | undefined;
}

/** What follows a 101: two directions, each of which ends by itself. */
export class Tunnel {
  #openDirections = 2;
  #bytes: ForwardedBytes | undefined;

  /** The bytes go past the codecs and the exchange. */
  get joined(): boolean {
    return this.#bytes !== undefined;
  }

  /** Bytes that went past, from the client. */
  get received(): number {
    return this.#bytes?.[RECEIVED] ?? 0;
  }

  /** The same to the client. */
  get sent(): number {
    return this.#bytes?.[SENT] ?? 0;
  }

  /** Joins the ends once no byte waits at either of them. */
  join(client: TunnelStream, backend: TunnelStream | undefined): void {
    if (this.joined) return;
    const clientEnd = client.tunnelEnd();
    const backendEnd = clientEnd && backend?.tunnelEnd();
    if (clientEnd && backendEnd) this.#bytes = joinEnds(clientEnd, backendEnd);
  }

  /** A direction has ended; true: it was the second one. */
  endDirection(): boolean {
    return --this.#openDirections === 0;
  }
}

/** An end of a tunnel that has a connection to itself and at which no byte waits: what follows needs no codec. */
export interface TunnelEnd {
  readonly connection: Connection;
  readonly codec: TunnelCodec;
}

/** Goes on hearing of ends, drains and failures of the connection, and its limits hold. */
export interface TunnelCodec extends ConnectionHandler {
  /** The other end has not taken what was read here: nothing more is read until the exchange asks for it. */
  holdReading(): void;
  /** Bytes for the connection wait in it: `onDrain` is awaited. */
  awaitDrain(): void;
}

/** From now on bytes pass between the connections of both ends; answers where they are counted. */
export function joinEnds(client: TunnelEnd, backend: TunnelEnd): ForwardedBytes {
  const bytes = new Float64Array(2);
  client.connection.handler = new TunnelForwarder(client.codec, backend, bytes, RECEIVED);
  backend.connection.handler = new TunnelForwarder(backend.codec, client, bytes, SENT);
  return bytes;
}

/** Stands before a codec: bytes go past it, everything else to it. */
class TunnelForwarder extends Forwarder {
  readonly #codec: TunnelCodec;
  readonly #other: TunnelCodec;

  constructor(codec: TunnelCodec, other: TunnelEnd, bytes: ForwardedBytes, direction: Direction) {
    super(bytes, direction);
    this.#codec = codec;
    this.#other = other.codec;
    this.forwardTo(other.connection);
  }

  protected override onBlocked(): void {
    this.#codec.holdReading();
    this.#other.awaitDrain();
  }

  override onConnect(): void {
    // A tunnel is connected.
  }

  override onSecure(): void {
    // A tunnel is connected.
  }

  override onEnd(): void {
    this.#codec.onEnd();
  }

  override onDrain(): void {
    this.#codec.onDrain();
  }

  override onClose(error: WireError | undefined): void {
    this.#codec.onClose(error);
  }
}
