import type { ExternalAuth } from '../../ir/http-filter.js';
import type { Exchange, RequestBodyTap } from '../exchange/exchange.js';
import { FieldList, type Fields } from '../exchange/fields.js';
import { PlainRequestHead, PlainResponseHead, type ResponseHead } from '../exchange/heads.js';
import { Piece } from '../exchange/piece.js';
import { ANSWERED, type RequestStep, type StepOutcome, SUSPENDED } from '../exchange/route-entry.js';
import { Timer, type TimerWheel } from '../exchange/timer-wheel.js';
import {
  isUnavailable,
  type UpstreamFailure,
  type UpstreamHandler,
  type UpstreamStream,
  type UpstreamTarget,
} from '../exchange/upstream.js';
import { FAILED, WRITTEN, type WriteOutcome } from '../wire/wire.js';

/** How long the service may take, in ms. */
const TIMEOUT_MS = 10_000;
/** What of a denial's body the client is sent. */
const MOST_DENIAL_BYTES = 64 * 1024;

/** The step of an ExternalAuth filter (GEP-1494). Whatever goes wrong denies. */
export function compileExternalAuth(
  filter: ExternalAuth,
  upstream: UpstreamTarget,
  wheel: TimerWheel,
): RequestStep {
  return filter.protocol === 'http' ? new HttpAuthorization(filter, upstream, wheel) : NOT_SUPPORTED;
}

const NOT_SUPPORTED: RequestStep = {
  run: (exchange) => {
    exchange.refuse(500, 'external authorization over gRPC is not supported');
    return ANSWERED;
  },
};

/** Asks an HTTP service: 200 lets the request pass, any other answer goes to the client. */
class HttpAuthorization implements RequestStep {
  readonly #filter: ExternalAuth;
  readonly #upstream: UpstreamTarget;
  readonly #wheel: TimerWheel;
  readonly #requestHeaders: readonly string[];
  readonly #responseHeaders: readonly string[];

  constructor(filter: ExternalAuth, upstream: UpstreamTarget, wheel: TimerWheel) {
    this.#filter = filter;
    this.#upstream = upstream;
    this.#wheel = wheel;
    this.#requestHeaders = [
      ...new Set(['authorization', ...filter.allowedRequestHeaders.map(lowerCase)]),
    ].filter(isPassable);
    this.#responseHeaders = filter.allowedResponseHeaders.map(lowerCase).filter(isPassable);
  }

  run(exchange: Exchange): StepOutcome {
    const limit = this.#filter.forwardBodyBytes;
    if (limit === 0 || exchange.request.contentLength === 0) return this.#ask(exchange, undefined);
    // A larger body is sent truncated (ForwardBody.maxSize), so its beginning is kept apart.
    const beginning = new Beginning(limit);
    exchange.tapBody(beginning);
    exchange.collectBody(limit, (body) => {
      if (!exchange.closed) this.#ask(exchange, body ?? beginning.bytes());
    });
    return SUSPENDED;
  }

  #ask(exchange: Exchange, body: Buffer | undefined): StepOutcome {
    const connector = this.#upstream.choose(undefined, undefined);
    if (isUnavailable(connector)) {
      exchange.refuse(connector.status, `external authorization: ${connector.reason}`);
      return ANSWERED;
    }
    const { request } = exchange;
    const head = new PlainRequestHead({
      method: request.method,
      scheme: request.scheme,
      authority: request.authority,
      path: this.#filter.path.replace(/\/$/, '') + request.path,
      fields: this.#fieldsFor(request.fields, body),
      contentLength: body?.length ?? 0,
    });
    // What the backend takes for the service's word must not come from the client.
    for (const name of this.#responseHeaders) request.fields.remove(name);
    const call = new AuthorizationCall(exchange, this.#responseHeaders, this.#wheel);
    const piece = new Piece().clear(true);
    if (body) piece.set(body, 0, body.length, true);
    call.begin(connector.open({ head, piece, mayReuse: true }, call));
    return SUSPENDED;
  }

  #fieldsFor(request: Fields, body: Buffer | undefined): FieldList {
    const fields = new FieldList();
    for (const name of this.#requestHeaders)
      for (const value of request.getAll(name)) fields.add(name, value);
    if (body) fields.add('content-length', String(body.length));
    return fields;
  }
}

/** The first bytes of a body. */
class Beginning implements RequestBodyTap {
  readonly #limit: number;
  readonly #parts: Buffer[] = [];
  #left: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  onBody(piece: Piece): void {
    if (this.#left <= 0) return;
    const part = Buffer.from(piece.view().subarray(0, this.#left));
    this.#parts.push(part);
    this.#left -= part.length;
  }

  onBodyAbort(): void {
    this.#left = 0;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts).subarray(0, this.#limit);
  }
}

/** One question to the service. */
class AuthorizationCall extends Timer implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #responseHeaders: readonly string[];
  readonly #wheel: TimerWheel;
  #stream: UpstreamStream | undefined;
  #denial: PlainResponseHead | undefined;
  readonly #body: Buffer[] = [];
  #bodyBytes = 0;
  #isOver = false;

  constructor(exchange: Exchange, responseHeaders: readonly string[], wheel: TimerWheel) {
    super();
    this.#exchange = exchange;
    this.#responseHeaders = responseHeaders;
    this.#wheel = wheel;
  }

  begin(stream: UpstreamStream): void {
    this.#stream = stream;
    this.#wheel.arm(this, TIMEOUT_MS);
  }

  override expire(): void {
    this.#stream?.abort();
    this.#refuse(504, 'no answer in time');
  }

  onUpstreamInformational(head: ResponseHead): void {
    if (head.status === 101) this.expire();
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.#isOver) return FAILED;
    if (head.status === 200) {
      this.#allow(head.fields);
      // Nobody reads its body.
      return piece.last ? WRITTEN : FAILED;
    }
    this.#denial = denialOf(head);
    return this.onUpstreamData(piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    if (this.#isOver) return FAILED;
    if (this.#bodyBytes + piece.length > MOST_DENIAL_BYTES) {
      this.#stream?.abort();
      this.#deny();
      return FAILED;
    }
    this.#body.push(piece.copy());
    this.#bodyBytes += piece.length;
    if (piece.last) this.#deny();
    return WRITTEN;
  }

  onUpstreamTrailers(): void {
    this.#deny();
  }

  onUpstreamDrain(): void {
    // The body was sent whole.
  }

  onUpstreamFailure({ detail }: UpstreamFailure): void {
    this.#refuse(503, detail);
  }

  #allow(answer: Fields): void {
    this.#end();
    if (this.#exchange.closed) return;
    const { fields } = this.#exchange.request;
    for (const name of this.#responseHeaders)
      for (const value of answer.getAll(name)) fields.add(name, value);
    this.#exchange.proceed();
  }

  #deny(): void {
    if (this.#isOver || !this.#denial) return;
    this.#end();
    const body = Buffer.concat(this.#body);
    this.#denial.fields.set('content-length', String(body.length));
    const head = new PlainResponseHead(this.#denial.status, this.#denial.fields, body.length);
    if (!this.#exchange.closed) this.#exchange.answer(head, body);
  }

  #refuse(status: number, detail: string): void {
    if (this.#isOver) return;
    this.#end();
    if (!this.#exchange.closed) this.#exchange.refuse(status, `external authorization: ${detail}`);
  }

  #end(): void {
    this.#isOver = true;
    this.#wheel.remove(this);
  }
}

/** What the service says instead of 200. A status that is no answer by itself is a plain denial. */
function denialOf(head: ResponseHead): PlainResponseHead {
  const isAnswer = head.status >= 200 && head.status !== 206 && head.status !== 304;
  return new PlainResponseHead(isAnswer && head.status >= 300 ? head.status : 403, head.fields.toList());
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}

/** Framing is the codecs', and `host` is the authority, which is always passed. */
function isPassable(name: string): boolean {
  return !['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te'].includes(name);
}
