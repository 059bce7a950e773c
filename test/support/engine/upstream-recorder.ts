import type { Fields } from '../../../src/engine/exchange/fields.js';
import {
  PlainRequestHead,
  type RequestHeadInit,
  type ResponseHead,
} from '../../../src/engine/exchange/heads.js';
import { Piece } from '../../../src/engine/exchange/piece.js';
import type {
  EndpointConnector,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamStream,
} from '../../../src/engine/exchange/upstream.js';
import { PENDING, WRITTEN, type WriteOutcome } from '../../../src/engine/wire/wire.js';
import { until } from '../until.js';

/** Opens a request and records what comes back. */
export class UpstreamRecorder implements UpstreamHandler {
  readonly informational: number[] = [];
  status = 0;
  fields: readonly string[] = [];
  readonly parts: Buffer[] = [];
  trailers: readonly string[] | undefined;
  failure: UpstreamFailure | undefined;
  ended = false;
  drains = 0;
  /** Answer `PENDING` to every piece. */
  isSlow = false;
  readonly stream: UpstreamStream;

  constructor(
    connector: EndpointConnector,
    init: Partial<RequestHeadInit> = {},
    body?: Buffer,
    mayReuse = true,
  ) {
    const head = new PlainRequestHead({
      method: 'GET',
      scheme: 'http',
      authority: 'a.test',
      path: '/',
      ...init,
    });
    const piece = body
      ? new Piece().set(body, 0, body.length, true)
      : new Piece().clear(init.contentLength !== -1);
    this.stream = connector.open({ head, piece, mayReuse }, this);
  }

  get body(): string {
    return Buffer.concat(this.parts).toString('latin1');
  }

  send(text: string | Buffer, last = false): WriteOutcome {
    const bytes = Buffer.from(text);
    return this.stream.sendData(new Piece().set(bytes, 0, bytes.length, last));
  }

  async over(): Promise<this> {
    await until(() => this.ended || this.failure !== undefined, 1);
    return this;
  }

  onUpstreamInformational(head: ResponseHead): void {
    this.informational.push(head.status);
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    this.status = head.status;
    this.fields = head.fields.toList().toFlat();
    return this.onUpstreamData(piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    this.parts.push(piece.copy());
    if (piece.last) this.ended = true;
    return this.isSlow && piece.length > 0 ? PENDING : WRITTEN;
  }

  onUpstreamTrailers(fields: Fields): void {
    this.trailers = fields.toList().toFlat();
    this.ended = true;
  }

  onUpstreamDrain(): void {
    this.drains++;
  }

  onUpstreamFailure(failure: UpstreamFailure): void {
    this.failure = failure;
  }
}
