import type { ListenerSettings } from '../../ir/listener.js';
import type { WriteOutcome } from '../wire/wire.js';
import type { Fields } from './fields.js';
import type { ResponseHead } from './heads.js';
import type { Piece } from './piece.js';
import type { TunnelEnd } from './tunnel.js';

/** What is the same for every request of one client connection. */
export interface DownstreamContext {
  /** `Listener.key`. */
  readonly listener: string;
  readonly settings: ListenerSettings;
  /** TLS ended here: the scheme is `https`. */
  readonly secure: boolean;
  /** Hostname of the `Server` that SNI chose (`''` is the one for any name); undefined without TLS. */
  readonly sniServer: string | undefined;
  /** Address of the client: the peer, or what the PROXY protocol said. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Address and port that the client connected to. */
  readonly localAddress: string;
  readonly localPort: number;
  /** The peer is one of `trustedProxies`: its `Forwarded` and `X-Forwarded-*` are believed. */
  readonly trusted: boolean;
  /** Adds `X-Forwarded-*` or `Forwarded` to a request to this authority. */
  addForwarded(fields: Fields, authority: string): void;
}

/**
 * The codec's end of one request towards the client; the exchange calls it.
 *
 * After `sendHead`, `sendData` or `sendTrailers` that said it was the last, or after `abort`, the exchange calls
 * nothing more. With status 101 the stream becomes a tunnel: pieces are relayed bare in both directions, and
 * `last` closes that direction only.
 */
export interface DownstreamStream {
  readonly context: DownstreamContext;
  /** 103 and other interim answers except 100 and 101. A codec or client that cannot take them ignores them. */
  sendInformational(head: ResponseHead): void;
  /**
   * The final head with the first part of the body, in one write where possible. The codec adds its own framing
   * and connection fields; it sends no body for HEAD, 204 and 304 whatever is given.
   */
  sendHead(head: ResponseHead, piece: Piece): WriteOutcome;
  sendData(piece: Piece): WriteOutcome;
  /** Ends the response. Trailers that the client cannot take are dropped and the response ends normally. */
  sendTrailers(fields: Fields): void;
  /** The response cannot be completed: the client must notice (connection closed, RST_STREAM). */
  abort(): void;
  /** Lets the request body flow (again); sends `100 Continue` when the client waits for it. */
  resumeBody(): void;
  /** Holds the request body back; pieces that were read already may still come. */
  pauseBody(): void;
  /**
   * After 101: the end of the tunnel that needs no codec any more. Undefined while bytes wait on their way through the
   * codec, and where the tunnel shares its connection.
   */
  tunnelEnd(): TunnelEnd | undefined;
  /**
   * The last call of every exchange that `begin` returned for, after its record was taken: the head may be used
   * for something else, and the next request of the connection may begin.
   */
  release(): void;
}
