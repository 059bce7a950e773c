import type { DownstreamContext, DownstreamStream } from '../exchange/downstream.js';
import type { InboundExchange } from '../exchange/exchange.js';
import type { ExchangeRunner } from '../exchange/exchange-runner.js';
import type { FieldList, Fields } from '../exchange/fields.js';
import type { RequestHead, ResponseHead } from '../exchange/heads.js';
import type { Piece } from '../exchange/piece.js';
import { FAILED, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import { INTERNAL_ERROR, NO_ERROR } from './frame.js';
import { Http2Stream, type StreamHost } from './http2-stream.js';

/** One request of an HTTP/2 client, and the response to it. */
export class Http2DownstreamStream extends Http2Stream implements DownstreamStream {
  readonly context: DownstreamContext;
  readonly #head: RequestHead;
  /** Undefined before it begins and after it has released the stream. */
  #exchange: InboundExchange | undefined;
  #begun = false;
  #released = false;
  #awaitsContinue: boolean;
  #isTunnel = false;
  /** The head that was sent has no body after it. */
  #isBodyless = false;
  /** The tunnel was accepted; what came before flows once the exchange knows. */
  #opensTunnel = false;

  constructor(host: StreamHost, context: DownstreamContext, head: RequestHead) {
    // Bodies flow from the start, but for those that wait for 100 and for tunnels that are not open yet.
    super(host, head.expectContinue || head.upgrade !== '');
    this.context = context;
    this.#head = head;
    this.#awaitsContinue = head.expectContinue;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** @param piece what came of the body with the head. */
  begin(runner: ExchangeRunner, piece: Piece): void {
    const { length } = piece;
    this.#begun = true;
    const exchange = runner.begin(this, this.#head, piece);
    // The exchange may be over already: then it may serve another stream by now.
    if (!this.#released) this.#exchange = exchange;
    this.consume(length);
  }

  // ---- what the exchange calls

  sendInformational(head: ResponseHead): void {
    if (!this.gone && !this.localClosed) this.#writeHead(head.status, head.fields, false);
  }

  sendHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.gone || this.localClosed) return FAILED;
    const { status } = head;
    this.#awaitsContinue = false;
    if (status === 101) {
      // RFC 8441 §5: 200 is what accepts the tunnel, and there is no key to answer.
      this.#isTunnel = true;
      head.fields.remove('sec-websocket-accept');
      this.#writeHead(200, head.fields, false);
      this.#opensTunnel = true;
      queueMicrotask(() => {
        if (this.#opensTunnel) this.resumeBody();
      });
    } else {
      this.#isBodyless = this.#head.method === 'HEAD' || status === 204 || status === 304;
      const ends = this.#isBodyless || (piece.last && piece.length === 0);
      this.#writeHead(status, head.fields, ends);
      if (ends) {
        this.endLocal();
        return WRITTEN;
      }
    }
    return piece.length > 0 || piece.last ? this.send(piece) : WRITTEN;
  }

  sendData(piece: Piece): WriteOutcome {
    // The body of a fill that the client was answered 304 for: it goes to the store, not to the client.
    return this.#isBodyless ? WRITTEN : this.send(piece);
  }

  sendTrailers(fields: Fields): void {
    this.sendEnd(fields);
  }

  abort(): void {
    this.end(INTERNAL_ERROR);
  }

  resumeBody(): void {
    if (this.#awaitsContinue && !this.gone && !this.localClosed) {
      this.#awaitsContinue = false;
      if (!this.remoteClosed && this.receivedLength === 0) this.#writeHead(100, undefined, false);
    }
    this.#opensTunnel = false;
    this.resumeInput();
  }

  pauseBody(): void {
    this.#opensTunnel = false;
    this.pauseInput();
  }

  tunnelEnd(): undefined {
    // Its connection has other streams.
    return undefined;
  }

  release(): void {
    this.#released = true;
    this.#exchange = undefined;
  }

  // ---- what the connection calls

  protected override deliver(piece: Piece): WriteOutcome {
    return this.#exchange?.onRequestData(piece) ?? FAILED;
  }

  protected override deliverTrailers(fields: FieldList): void {
    this.#exchange?.onRequestTrailers(fields);
  }

  protected override onSent(): void {
    this.#exchange?.onResponseDrain();
  }

  protected override onLocalEnd(): void {
    if (this.#isTunnel) return;
    // RFC 9113 §8.1: the response is complete, the rest of the request is of no interest.
    this.discardInput();
    this.host.reset(this, NO_ERROR);
  }

  override onPeerReset(code: number): void {
    this.#exchange?.onRequestAbort(`the client reset the stream with code ${code}`);
  }

  override onLost(detail: string): void {
    this.#exchange?.onRequestAbort(detail);
  }

  #writeHead(status: number, fields: Fields | undefined, ends: boolean): void {
    const { encoder, writer } = this.host;
    encoder.begin();
    encoder.status(status);
    if (fields) encoder.fields(fields);
    writer.headers(this.id, encoder.bytes, encoder.length, ends);
  }
}
