import { DetachedStream } from './detached-stream.js';
import type { DownstreamContext, DownstreamStream } from './downstream.js';
import type { ExchangeRunner } from './exchange-runner.js';
import type { ExchangeServices } from './exchange-services.js';
import type { Exchange, InboundExchange } from './exchange.js';
import type { RequestHead } from './heads.js';
import { HttpExchange } from './http-exchange.js';
import { Piece } from './piece.js';
import type { BackgroundFetcher, ResponseTap } from './response-cache.js';

/**
 * Makes the exchanges of a worker. In: requests from codecs. Out: exchanges that use the tables of the moment they began
 * in to their end.
 */
export class HttpExchangeRunner implements ExchangeRunner, BackgroundFetcher {
  readonly #services: ExchangeServices;

  constructor(services: ExchangeServices) {
    this.#services = services;
  }

  begin(stream: DownstreamStream, head: RequestHead, piece: Piece): InboundExchange {
    const exchange = new HttpExchange(this.#services, stream, head, piece);
    exchange.begin();
    return exchange;
  }

  reject(context: DownstreamContext, status: number, problem: string): void {
    this.#services.observer.onRequestRefused(context, status, problem);
  }

  fetch(like: Exchange, head: RequestHead, tap: ResponseTap): void {
    const stream = new DetachedStream(like.context);
    new HttpExchange(this.#services, stream, head, new Piece().clear(true)).beginLike(like, tap);
  }
}
