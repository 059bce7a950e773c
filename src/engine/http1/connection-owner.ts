import type { WireError } from '../wire/wire.js';
import type { Http1UpstreamConnection } from './upstream-connection.js';

/** What its pool does for a connection. */
export interface ConnectionOwner {
  /** The response is complete and the connection can take another request. */
  onIdle(connection: Http1UpstreamConnection): void;
  onGone(connection: Http1UpstreamConnection): void;
  /** The request in progress has ended, one way or the other. */
  onRequestOver(): void;
  /** Why a connection could not be made, as a kind of failure. */
  kindOf(error: WireError | undefined): 'connect' | 'tls';
}
