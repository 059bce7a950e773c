import { createHash } from 'node:crypto';
import type { FieldList, Fields } from '../exchange/fields.js';
import { PlainResponseHead, type RequestHead } from '../exchange/heads.js';
import { Piece } from '../exchange/piece.js';
import type {
  OutboundRequest,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamStream,
} from '../exchange/upstream.js';
import type { Endpoint } from '../../ir/upstream.js';
import { FAILED, PENDING, type WriteOutcome } from '../wire/wire.js';
import { CANCEL, REFUSED_STREAM } from './frame.js';
import { Http2Stream, type Loss, type StreamHost } from './http2-stream.js';
import type { ResponseTemplate } from './response-head.js';

/** Where a stream came from, and where it waits. */
export interface UpstreamStreamOwner {
  readonly endpoint: Endpoint;
  /** The stream is over: the request no longer counts as active. */
  onStreamOver(stream: Http2UpstreamStream): void;
  /** Begins the stream again on another connection. */
  restart(stream: Http2UpstreamStream, head: RequestHead): void;
}

export interface UpstreamStreamInit {
  readonly handler: UpstreamHandler;
  readonly reused: boolean;
}

/** A request of which no more was sent can be begun again when the backend has not acted on it, and how often. */
const MAX_REPLAYED = 16_384;
const MAX_RESTARTS = 2;

/** RFC 6455 §1.3. */
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** One request to an HTTP/2 backend, and its response. Waits without a connection while all are full. */
export class Http2UpstreamStream extends Http2Stream implements UpstreamStream {
  readonly reused: boolean;
  readonly #owner: UpstreamStreamOwner;
  readonly #handler: UpstreamHandler;
  readonly #head: RequestHead;
  /** Copies of all that was sent; undefined when that is too much. */
  #sent: Buffer[] | undefined;
  #sentLength = 0;
  #sentLast = false;
  #sentTrailers: Fields | undefined;
  #restarts = 0;
  readonly #isHead: boolean;
  readonly #upgrade: string;
  readonly #webSocketKey: string;
  /** The final head until its first delivery. */
  #response: PlainResponseHead | undefined;
  #hasHead = false;
  #isTunnel = false;
  #endsWithHead = false;
  #owesDrain = false;
  /** The handler hears nothing more. */
  #over = false;

  constructor(
    host: StreamHost,
    owner: UpstreamStreamOwner,
    request: OutboundRequest,
    init: UpstreamStreamInit,
  ) {
    super(host, false);
    this.#owner = owner;
    this.#handler = init.handler;
    this.reused = init.reused;
    const { head, piece } = request;
    this.#head = head;
    this.#isHead = head.method === 'HEAD';
    this.#upgrade = head.upgrade;
    this.#webSocketKey = head.upgrade === 'websocket' ? (head.fields.get('sec-websocket-key') ?? '') : '';
    this.#endsWithHead = piece.last && piece.length === 0 && head.upgrade === '';
  }

  get endpoint(): Endpoint {
    return this.#owner.endpoint;
  }

  get hasHead(): boolean {
    return this.#hasHead;
  }

  // ---- what the connection calls

  /** The first part of the body, which the caller does not keep. */
  sendFirst(piece: Piece): void {
    if (this.#endsWithHead || this.#upgrade !== '' || (piece.length === 0 && !piece.last)) return;
    this.#note(piece);
    if (this.send(piece) === PENDING) this.detachOutput();
  }

  /** Keeps what is sent, for as long as it is little. */
  #note(piece: Piece): void {
    this.#sentLast = piece.last;
    if (this.#sentLength > MAX_REPLAYED) return;
    const { length } = piece;
    if (length === 0) return;
    this.#sentLength += length;
    if (this.#sentLength > MAX_REPLAYED) {
      this.#sent = undefined;
      return;
    }
    const copy = Buffer.allocUnsafe(length);
    piece.buffer.copy(copy, 0, piece.start, piece.end);
    if (this.#sent) this.#sent.push(copy);
    else this.#sent = [copy];
  }

  /** Sends everything again, on another connection; {@link start} follows. */
  replayOn(host: StreamHost): void {
    this.renew(host);
    const bytes = Buffer.concat(this.#sent ?? []);
    if (bytes.length > 0 || (this.#sentLast && !this.#endsWithHead)) {
      this.send(new Piece().set(bytes, 0, bytes.length, this.#sentLast));
    }
    if (this.#sentTrailers) this.sendEnd(this.#sentTrailers);
  }

  /** RFC 9113 §8.7: any request may be sent again that the backend has not acted on. */
  #mayRestart(): boolean {
    if (this.#over || this.#hasHead || this.#upgrade !== '') return false;
    return this.#sentLength <= MAX_REPLAYED && this.#restarts++ < MAX_RESTARTS;
  }

  /** The stream has its identifier: writes the head, and what waited for it. */
  start(head: RequestHead, secure: boolean): void {
    this.#writeHead(head, secure, this.#endsWithHead);
    if (this.#endsWithHead) this.endLocal();
    else if (this.pump(Infinity)) this.onSent();
  }

  #writeHead(head: RequestHead, secure: boolean, ends: boolean): void {
    const { encoder, writer } = this.host;
    encoder.begin();
    encoder.field(':method', this.#upgrade === '' ? head.method : 'CONNECT');
    encoder.field(':scheme', secure ? 'https' : 'http');
    encoder.field(':authority', head.authority);
    encoder.field(':path', head.path);
    if (this.#upgrade !== '') encoder.field(':protocol', this.#upgrade);
    // RFC 8441 §5: the key is for HTTP/1.1. The head may be tried again, so a copy loses it.
    const fields = this.#webSocketKey === '' ? head.fields : head.fields.toList();
    if (this.#webSocketKey !== '') fields.remove('sec-websocket-key');
    encoder.fields(fields);
    if (head.acceptsTrailers) encoder.field('te', 'trailers');
    writer.headers(this.id, encoder.bytes, encoder.length, ends);
  }

  onInformational(head: PlainResponseHead): void {
    this.#handler.onUpstreamInformational(head);
  }

  /** The final head. @returns false when its length cannot be. */
  onHead(template: ResponseTemplate, fields: FieldList): boolean {
    const { status, contentLength } = template;
    this.#hasHead = true;
    this.#sent = undefined;
    this.#sentLength = Infinity;
    if (this.#upgrade !== '' && status === 200) {
      this.#isTunnel = true;
      if (this.#webSocketKey !== '') fields.set('sec-websocket-accept', acceptKey(this.#webSocketKey));
      this.#response = new PlainResponseHead(101, fields, -1, '2.0');
      return true;
    }
    this.#response = new PlainResponseHead(status, fields, contentLength, '2.0');
    // RFC 9110 §6.4.1: content-length may speak of a body that is not sent.
    const isBodyless = this.#isHead || status === 304 || status === 204;
    this.expectedLength = isBodyless ? 0 : contentLength;
    return status !== 204 || contentLength <= 0;
  }

  protected override deliver(piece: Piece): WriteOutcome {
    const { last } = piece;
    const head = this.#response;
    this.#response = undefined;
    if (last && !this.#isTunnel) this.#finish();
    const outcome = head ? this.#handler.onUpstreamHead(head, piece) : this.#handler.onUpstreamData(piece);
    if (last) this.#dropRequest();
    return outcome;
  }

  protected override deliverTrailers(fields: FieldList): void {
    this.#finish();
    this.#handler.onUpstreamTrailers(fields);
    this.#dropRequest();
  }

  /** RFC 9113 §8.1: the response is complete, so the rest of the request is of no use. */
  #dropRequest(): void {
    if (!this.#isTunnel && !this.localClosed) this.end(CANCEL);
  }

  protected override onSent(): void {
    if (!this.#owesDrain || this.#over) return;
    this.#owesDrain = false;
    this.#handler.onUpstreamDrain();
  }

  protected override onLocalEnd(): void {
    // The response may still come.
  }

  override onPeerReset(code: number): void {
    if (this.#over) return;
    if (code === REFUSED_STREAM) this.onLost('the backend refused the stream', 'unprocessed');
    else this.#fail(this.#hasHead ? 'truncated' : 'early', `the backend reset the stream with code ${code}`);
  }

  override onLost(detail: string, why: Loss): void {
    if (why === 'unprocessed' && this.#mayRestart()) this.#owner.restart(this, this.#head);
    else if (why === 'unprocessed' && !this.#hasHead) this.#fail('connect', detail);
    else if (why === 'fault') this.#fail('protocol', detail);
    else this.#fail(this.#hasHead ? 'truncated' : 'early', detail);
  }

  /** No connection was made. */
  onUnconnected(failure: UpstreamFailure): void {
    this.gone = true;
    this.#fail(failure.kind, failure.detail);
  }

  #fail(kind: UpstreamFailure['kind'], detail: string): void {
    if (this.#over) return;
    this.#finish();
    this.discardInput();
    this.#handler.onUpstreamFailure({ kind, detail });
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#owner.onStreamOver(this);
  }

  // ---- what the exchange calls

  sendData(piece: Piece): WriteOutcome {
    if (this.#over) return FAILED;
    this.#note(piece);
    const outcome = this.send(piece);
    if (outcome === PENDING) this.#owesDrain = true;
    return outcome;
  }

  sendTrailers(fields: Fields): void {
    this.#sentTrailers = fields;
    this.sendEnd(fields);
  }

  resume(): void {
    this.resumeInput();
  }

  tunnelEnd(): undefined {
    // Its connection has other streams.
    return undefined;
  }

  abort(): void {
    this.#finish();
    this.discardInput();
    if (this.id !== 0) this.end(CANCEL);
    this.gone = true;
  }

  override onForgotten(): void {
    if (this.#isTunnel) this.#finish();
  }
}

function acceptKey(key: string): string {
  return createHash('sha1')
    .update(key + WEBSOCKET_GUID)
    .digest('base64');
}
