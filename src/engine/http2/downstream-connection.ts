import type { DownstreamContext } from '../exchange/downstream.js';
import type { ExchangeRunner } from '../exchange/exchange-runner.js';
import { FieldList } from '../exchange/fields.js';
import { PlainRequestHead } from '../exchange/heads.js';
import { Piece } from '../exchange/piece.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { Connection } from '../wire/wire.js';
import { ConnectionWatch } from './connection-watch.js';
import { Http2DownstreamStream } from './downstream-stream.js';
import { readTrailers } from './field-rules.js';
import {
  ENHANCE_YOUR_CALM,
  MAX_WINDOW,
  NO_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  SETTINGS_ENABLE_CONNECT_PROTOCOL,
  SETTINGS_MAX_CONCURRENT_STREAMS,
  SETTINGS_MAX_HEADER_LIST_SIZE,
} from './frame.js';
import { MAX_HEADER_LENGTH } from './header-assembler.js';
import type { HeaderBlock } from './header-block.js';
import { Http2Connection } from './http2-connection.js';
import { inboundGather } from './inbound-gather.js';
import { CLIENT_PREFACE } from './preface.js';
import { MALFORMED, readRequest, type RequestTemplate } from './request-head.js';

/** What all HTTP/2 connections of a worker share. */
export interface Http2DownstreamOptions {
  readonly runner: ExchangeRunner;
  readonly wheel: TimerWheel;
  /** Streams that a client may have open at a time. */
  readonly maxConcurrentStreams: number;
  /** Time in ms without a stream after which a connection is closed. */
  readonly idleMs: number;
  /** Time in ms for a client to take any of the DATA that waits for it. */
  readonly writeMs: number;
  /** Time in ms without a byte from a client that has open streams, after which it is asked by PING. */
  readonly quietMs: number;
}

export const DEFAULT_MAX_CONCURRENT_STREAMS = 100;
/** RFC 9113 §10.5.1: too large a head is answered. */
const FIELDS_TOO_LARGE = 431;
const PING_PAYLOAD = Buffer.from('draining', 'latin1');
const piece = new Piece();

/** The connection of an HTTP/2 client: requests in, responses out. */
export class Http2DownstreamConnection extends Http2Connection<
  Http2DownstreamStream,
  RequestTemplate | number
> {
  readonly #context: DownstreamContext;
  readonly #options: Http2DownstreamOptions;
  readonly #onClose: () => void;
  readonly #watch: ConnectionWatch;
  #prefaceLength = 0;
  /** `announced`: new streams may still be on their way. `final`: the client knows the last one. */
  #draining: 'no' | 'announced' | 'final' = 'no';

  /** @param onClose called once, when the wire has closed. */
  constructor(
    wire: Connection,
    context: DownstreamContext,
    options: Http2DownstreamOptions,
    onClose: () => void,
  ) {
    super(wire, true, true);
    this.#context = context;
    this.#options = options;
    this.#onClose = onClose;
    this.#watch = new ConnectionWatch(this, options.wheel, {
      headMs: context.settings.readHeaderTimeoutMs,
      idleMs: options.idleMs,
      writeMs: options.writeMs,
      quietMs: options.quietMs,
    });
  }

  /** Takes the wire over. `received` are bytes that were read before the protocol was known. */
  start(received: Buffer): void {
    this.wire.handler = this;
    this.sendPreface([
      SETTINGS_MAX_CONCURRENT_STREAMS,
      this.#options.maxConcurrentStreams,
      SETTINGS_MAX_HEADER_LIST_SIZE,
      MAX_HEADER_LENGTH,
      SETTINGS_ENABLE_CONNECT_PROTOCOL,
      1,
    ]);
    this.#watch.start();
    this.startReading();
    if (received.length > 0) this.read(received, 0, received.length);
  }

  /**
   * Ends the connection without losing a request (RFC 9113 §6.8): first the client is told to open no more streams,
   * a round trip later which one was the last, and the connection closes with that.
   */
  drain(): void {
    if (this.#draining !== 'no' || this.stopped) return;
    this.#draining = 'announced';
    this.writer.goAway(MAX_WINDOW, NO_ERROR);
    this.writer.ping(PING_PAYLOAD, 0, false);
  }

  /** Ends at once: open requests are lost. */
  close(): void {
    this.fail(NO_ERROR, 'the connection is closed by the gateway');
  }

  /** No stream is open and none will be. */
  finish(): void {
    if (this.#draining !== 'final' && !this.stopped) this.writer.goAway(this.lastStreamId, NO_ERROR);
    this.#draining = 'final';
    this.onStreamClosed();
  }

  /** The wire is given up without a word. */
  destroy(): void {
    this.wire.destroy();
  }

  get isDraining(): boolean {
    return this.#draining !== 'no';
  }

  protected override read(buffer: Buffer, start: number, end: number): void {
    let at = start;
    while (this.#prefaceLength < CLIENT_PREFACE.length && at < end && !this.stopped) {
      if (buffer[at++] !== CLIENT_PREFACE[this.#prefaceLength++]) this.fail(PROTOCOL_ERROR, 'bad preface');
    }
    if (at < end) super.read(buffer, at, end);
  }

  protected override isIdle(id: number): boolean {
    // We never open streams: even identifiers stay idle.
    return id % 2 === 0 || id > this.lastStreamId;
  }

  protected override onHeaders(
    id: number,
    block: HeaderBlock<RequestTemplate | number>,
    ends: boolean,
  ): void {
    const open = this.streams.get(id);
    if (open) {
      this.#onTrailers(open, block, ends);
      return;
    }
    if (id % 2 === 0) {
      this.fail(PROTOCOL_ERROR, 'a client opened a stream with an even identifier');
      return;
    }
    this.lastStreamId = id;
    if (this.#draining === 'final') {
      this.refuse(id, REFUSED_STREAM);
      return;
    }
    if (this.streams.size >= this.#options.maxConcurrentStreams) {
      this.failStream(id, REFUSED_STREAM, 'too many streams');
      return;
    }
    if (block.tooLarge) {
      this.#answer(id, FIELDS_TOO_LARGE, ends);
      return;
    }
    const template = block.malformed
      ? MALFORMED
      : (block.template ??= readRequest(block.fields, this.#context.trusted));
    if (typeof template !== 'number') this.#open(id, block, template, ends);
    else if (template !== MALFORMED) this.#answer(id, template, ends);
    else this.#refuseMalformed(id);
  }

  #refuseMalformed(id: number): void {
    this.#options.runner.reject(this.#context, 400, 'malformed request');
    this.failStream(id, PROTOCOL_ERROR, 'malformed request');
  }

  #open(
    id: number,
    block: HeaderBlock<RequestTemplate | number>,
    template: RequestTemplate,
    ends: boolean,
  ): void {
    const { contentLength, upgrade } = template;
    const isTunnel = upgrade !== '';
    // RFC 9113 §8.1.1: content-length is the sum of the DATA frames.
    if (ends && contentLength > 0) {
      this.#refuseMalformed(id);
      return;
    }
    const head = new PlainRequestHead({
      method: template.method,
      scheme: this.#context.secure ? 'https' : 'http',
      authority: template.authority,
      hostname: template.hostname,
      path: template.path,
      fields: block.list(template.fields),
      contentLength: ends || isTunnel ? 0 : contentLength,
      protocol: '2.0',
      upgrade,
      expectContinue: template.expectContinue,
      acceptsTrailers: template.acceptsTrailers,
    });
    const stream = new Http2DownstreamStream(this, this.#context, head);
    stream.id = id;
    stream.sendWindow = this.peer.initialWindow;
    if (!isTunnel) stream.expectedLength = contentLength;
    this.streams.add(stream);
    if (ends) stream.endRemote();
    // What a tunnel carries is not a body: the request is complete without it.
    if (ends || isTunnel) {
      this.flushGathered();
      stream.begin(this.#options.runner, piece.clear(true));
    } else this.gatherFor(stream);
  }

  #onTrailers(
    stream: Http2DownstreamStream,
    block: HeaderBlock<RequestTemplate | number>,
    ends: boolean,
  ): void {
    const fields = block.malformed || block.tooLarge || !ends ? undefined : readTrailers(block.fields);
    if (fields === undefined || !stream.endRemote()) {
      this.failStream(stream.id, PROTOCOL_ERROR, 'malformed trailers');
      return;
    }
    stream.takeTrailers(fields.length > 0 ? new FieldList(fields) : undefined);
  }

  /** The codec's own answer to what never becomes an exchange. */
  #answer(id: number, status: number, ends: boolean): void {
    this.#options.runner.reject(this.#context, status, 'refused request head');
    this.encoder.begin();
    this.encoder.status(status);
    this.encoder.field('content-length', '0');
    this.writer.headers(id, this.encoder.bytes, this.encoder.length, true);
    // Also when the client has ended the stream: what else comes on it is then known to be stray.
    if (!ends) this.refuse(id, NO_ERROR);
    if (!this.control.spend(4)) this.fail(ENHANCE_YOUR_CALM, 'too many bad requests');
  }

  override takeGathered(stream: Http2DownstreamStream, last: boolean): boolean {
    const gathered = inboundGather.finish(last);
    if (stream.begun) return stream.take(gathered);
    if (!stream.gone) stream.begin(this.#options.runner, gathered);
    return false;
  }

  override onGoAway(): void {
    // The client opens no more streams; those that are open are served.
    this.finish();
  }

  override onPingAck(): void {
    super.onPingAck();
    if (this.#draining === 'announced') this.finish();
  }

  protected override onSettings(): void {
    // Nothing but the windows concerns requests.
  }

  protected override onStreamClosed(): void {
    if (this.#draining === 'final' && this.streams.size === 0 && !this.stopped) {
      this.stopped = true;
      this.endWire();
    }
  }

  protected override onFailed(): void {
    // The watch destroys what the client does not close.
  }

  protected override onClosed(): void {
    this.#watch.stop();
    this.#onClose();
  }
}
