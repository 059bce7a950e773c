import type { DownstreamStream } from '../../../src/engine/exchange/downstream.js';
import type { InboundExchange } from '../../../src/engine/exchange/exchange.js';
import type { ExchangeRunner } from '../../../src/engine/exchange/exchange-runner.js';
import type { Fields } from '../../../src/engine/exchange/fields.js';
import { FieldList } from '../../../src/engine/exchange/fields.js';
import {
  PlainResponseHead,
  type RequestHead,
  type ResponseHead,
} from '../../../src/engine/exchange/heads.js';
import { Piece } from '../../../src/engine/exchange/piece.js';
import type {
  EndpointConnector,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamStream,
} from '../../../src/engine/exchange/upstream.js';
import { WRITTEN, type WriteOutcome } from '../../../src/engine/wire/wire.js';

/** Relays every request to one connector: what an exchange does when nothing is configured. */
export class RelayRunner implements ExchangeRunner {
  readonly exchanges: Relay[] = [];
  readonly rejected: number[] = [];

  constructor(readonly connector: EndpointConnector) {}

  begin(stream: DownstreamStream, head: RequestHead, piece: Piece): InboundExchange {
    const relay = new Relay(this.connector, stream, head, piece);
    this.exchanges.push(relay);
    return relay;
  }

  reject(_context: unknown, status: number): void {
    this.rejected.push(status);
  }
}

export class Relay implements InboundExchange, UpstreamHandler {
  readonly failures: UpstreamFailure[] = [];
  aborted: string | undefined;
  readonly #upstream: UpstreamStream;
  #headSent = false;
  #over = false;

  constructor(
    connector: EndpointConnector,
    readonly stream: DownstreamStream,
    readonly head: RequestHead,
    piece: Piece,
  ) {
    this.#upstream = connector.open({ head, piece, mayReuse: true }, this);
    if (head.expectContinue) stream.resumeBody();
  }

  onRequestData(piece: Piece): WriteOutcome {
    return this.#upstream.sendData(piece);
  }

  onRequestTrailers(fields: Fields): void {
    this.#upstream.sendTrailers(fields);
  }

  onRequestAbort(detail: string): void {
    if (this.#over) return;
    this.aborted = detail;
    this.#over = true;
    this.#upstream.abort();
  }

  onResponseDrain(): void {
    this.#upstream.resume();
  }

  onUpstreamInformational(head: ResponseHead): void {
    this.stream.sendInformational(head);
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    this.#headSent = true;
    return this.stream.sendHead(head, piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    return this.stream.sendData(piece);
  }

  onUpstreamTrailers(fields: Fields): void {
    this.stream.sendTrailers(fields);
  }

  onUpstreamDrain(): void {
    this.stream.resumeBody();
  }

  onUpstreamFailure(failure: UpstreamFailure): void {
    this.failures.push(failure);
    if (this.#over) return;
    this.#over = true;
    if (this.#headSent) this.stream.abort();
    else {
      const head = new PlainResponseHead(502, new FieldList(['x-failure', failure.kind]));
      this.stream.sendHead(head, new Piece().clear(true));
    }
  }
}

export interface ScriptedAnswer {
  readonly status: number;
  readonly fields?: readonly string[];
  readonly body?: Buffer;
  readonly trailers?: readonly string[];
}

/** Reads every request to its end and answers what a script says. */
export class AnsweringRunner implements ExchangeRunner {
  readonly exchanges: Answering[] = [];
  readonly rejected: number[] = [];

  constructor(readonly script: (exchange: Answering) => ScriptedAnswer) {}

  begin(stream: DownstreamStream, head: RequestHead, piece: Piece): InboundExchange {
    const exchange = new Answering(this.script, stream, head);
    this.exchanges.push(exchange);
    if (piece.last) exchange.onRequestData(piece);
    else {
      exchange.body.push(piece.copy());
      if (head.expectContinue) stream.resumeBody();
    }
    return exchange;
  }

  reject(_context: unknown, status: number): void {
    this.rejected.push(status);
  }
}

export class Answering implements InboundExchange {
  readonly body: Buffer[] = [];
  trailers: readonly string[] | undefined;
  aborted: string | undefined;
  drained = 0;

  constructor(
    readonly script: (exchange: Answering) => ScriptedAnswer,
    readonly stream: DownstreamStream,
    readonly head: RequestHead,
  ) {}

  onRequestData(piece: Piece): WriteOutcome {
    this.body.push(piece.copy());
    if (piece.last) this.#answer();
    return WRITTEN;
  }

  onRequestTrailers(fields: Fields): void {
    this.trailers = fields.toList().toFlat();
    this.#answer();
  }

  onRequestAbort(detail: string): void {
    this.aborted = detail;
  }

  onResponseDrain(): void {
    this.drained++;
  }

  #answer(): void {
    const { status, fields = [], body = Buffer.alloc(0), trailers } = this.script(this);
    const piece = new Piece().set(body, 0, body.length, trailers === undefined);
    this.stream.sendHead(new PlainResponseHead(status, new FieldList([...fields]), body.length), piece);
    if (trailers) this.stream.sendTrailers(new FieldList([...trailers]));
  }
}
