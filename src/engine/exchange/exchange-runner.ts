import type { InboundExchange } from './exchange.js';
import type { DownstreamContext, DownstreamStream } from './downstream.js';
import type { RequestHead } from './heads.js';
import type { Piece } from './piece.js';

/** Where downstream codecs hand in requests. */
export interface ExchangeRunner {
  /**
   * Begins an exchange. `piece` is what is there of the body already; `last` means that is all of it. It may answer
   * through `stream` before it returns, and then the result is of no further use. The head must stay valid until the
   * codec returns to the event loop and is then retained by the codec if the exchange is not over.
   */
  begin(stream: DownstreamStream, head: RequestHead, piece: Piece): InboundExchange;
  /** A request that the codec refused (and answered with `status`) before there was an exchange: counted and logged. */
  reject(context: DownstreamContext, status: number, problem: string): void;
}
