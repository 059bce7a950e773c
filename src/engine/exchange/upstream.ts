import type { Endpoint } from '../../ir/upstream.js';
import type { WriteOutcome } from '../wire/wire.js';
import type { Fields } from './fields.js';
import type { RequestHead, ResponseHead } from './heads.js';
import type { Piece } from './piece.js';
import type { TunnelEnd } from './tunnel.js';

/** Opens requests to one endpoint: a pool of HTTP/1.1 connections or a few multiplexed HTTP/2 ones. */
export interface EndpointConnector {
  readonly endpoint: Endpoint;
  /** Requests in flight, for balancers. */
  readonly active: number;
  /**
   * Sends the head and what there is of the body in one write where possible; connects first when it must. Never
   * throws and never calls the handler before it returns. The head's fields are sent as they are: hop-by-hop
   * fields were removed and own ones added before. What is needed after this call is copied in it.
   */
  open(request: OutboundRequest, handler: UpstreamHandler): UpstreamStream;
  /** No new requests: idle connections are closed, busy ones when their last request has ended. */
  retire(): void;
  /** Ends everything at once; open requests fail. */
  close(): void;
}

/** One attempt. The object may be reused by its owner after `open` returned. */
export interface OutboundRequest {
  readonly head: RequestHead;
  /** First part of the body; `last` when it is the whole. */
  readonly piece: Piece;
  /** A connection that served another request may be used. False for a second try. */
  readonly mayReuse: boolean;
}

/** The codec's end of one request towards a backend. */
export interface UpstreamStream {
  /** The connection served another request before: its death before the first byte says nothing of the backend. */
  readonly reused: boolean;
  readonly endpoint: Endpoint;
  /** `onUpstreamDrain` follows an answer `PENDING`. In a tunnel `last` closes our direction only. */
  sendData(piece: Piece): WriteOutcome;
  /** Ends the request. */
  sendTrailers(fields: Fields): void;
  /** What was `PENDING` at the handler has been taken: go on. */
  resume(): void;
  /** As that of the downstream. */
  tunnelEnd(): TunnelEnd | undefined;
  /** Nobody wants the response: give it up at once. The handler hears nothing more. */
  abort(): void;
}

/**
 * Hears the response. After a piece that was the last, `onUpstreamTrailers` or `onUpstreamFailure` nothing
 * more is called.
 */
export interface UpstreamHandler {
  /** 1xx other than 100 (which codecs swallow) and 101. */
  onUpstreamInformational(head: ResponseHead): void;
  /**
   * The final head, or 101: then a tunnel follows. For HEAD, 204, 304 the piece is empty and last. The head may be
   * a view of the piece's buffer directly before the piece: it is valid during the call.
   */
  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome;
  onUpstreamData(piece: Piece): WriteOutcome;
  /** The response ended with these trailers. */
  onUpstreamTrailers(fields: Fields): void;
  /** The request body may flow again. */
  onUpstreamDrain(): void;
  onUpstreamFailure(failure: UpstreamFailure): void;
}

/**
 * - `connect`: refused, unreachable or timed out; no byte was sent.
 * - `tls`: the handshake or the verification of the certificate failed; no byte of the request was sent.
 * - `early`: the connection ended before the first byte of a response.
 * - `timeout`: nothing came for longer than the connector waits.
 * - `protocol`: the response breaks its framing.
 * - `truncated`: the connection ended within the response.
 */
export interface UpstreamFailure {
  readonly kind: 'connect' | 'tls' | 'early' | 'timeout' | 'protocol' | 'truncated';
  /** For the access log: `ECONNREFUSED`, `bad chunk size`, … */
  readonly detail: string;
}

/** A backend as rules refer to it; the same object through every revision of its endpoints. */
export interface UpstreamTarget {
  readonly key: string;
  /**
   * The next endpoint, or what stands for it. `preferred` is `address:port` of session persistence and is used
   * while it exists; `avoided` is the endpoint of the failed try, used only when there is no other.
   */
  choose(preferred: string | undefined, avoided: Endpoint | undefined): EndpointConnector | Unavailable;
}

/** No endpoint (503) or no request may be sent (its refusal's status). */
export interface Unavailable {
  readonly status: number;
  readonly reason: string;
}

export function isUnavailable(choice: object): choice is Unavailable {
  return 'status' in choice;
}
