import type { ExternalAuth } from '../../../ir/http-filter.js';
import type { Exchange } from '../../exchange/exchange.js';
import { FieldList, type Fields } from '../../exchange/fields.js';
import { PlainRequestHead, type ResponseHead } from '../../exchange/heads.js';
import { Piece } from '../../exchange/piece.js';
import { ANSWERED, type RequestStep, type StepOutcome, SUSPENDED } from '../../exchange/route-entry.js';
import type { TimerWheel } from '../../exchange/timer-wheel.js';
import { isUnavailable, type UpstreamTarget } from '../../exchange/upstream.js';
import { FAILED, WRITTEN, type WriteOutcome } from '../../wire/wire.js';
import { AuthorizationCall } from './authorization-call.js';
import { askWithBody } from './forwarded-body.js';
import { isPassable, passableNames } from './passable-fields.js';

/** What of a denial's body the client is sent. */
const MOST_DENIAL_BYTES = 64 * 1024;

/** Asks an HTTP service: 200 lets the request pass, any other answer goes to the client. */
export class HttpAuthorization implements RequestStep {
  readonly #filter: ExternalAuth;
  readonly #upstream: UpstreamTarget;
  readonly #wheel: TimerWheel;
  readonly #requestHeaders: readonly string[];
  readonly #responseHeaders: readonly string[];

  constructor(filter: ExternalAuth, upstream: UpstreamTarget, wheel: TimerWheel) {
    this.#filter = filter;
    this.#upstream = upstream;
    this.#wheel = wheel;
    this.#requestHeaders = passableNames(['authorization', ...filter.allowedRequestHeaders]);
    this.#responseHeaders = passableNames(filter.allowedResponseHeaders);
  }

  run(exchange: Exchange): StepOutcome {
    return askWithBody(exchange, this.#filter.forwardBodyBytes, (body) => this.#ask(exchange, body));
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
    // HTTPAuthConfig.AllowedResponseHeaders: an empty list is all of them.
    const isAll = this.#filter.allowedResponseHeaders.length === 0;
    const call = new HttpCall(exchange, this.#wheel, isAll ? undefined : this.#responseHeaders);
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

class HttpCall extends AuthorizationCall {
  readonly #responseHeaders: readonly string[] | undefined;
  #denial: { readonly status: number; readonly fields: FieldList } | undefined;
  readonly #body: Buffer[] = [];
  #bodyBytes = 0;

  /** Undefined: every header of the answer is copied. */
  constructor(exchange: Exchange, wheel: TimerWheel, responseHeaders: readonly string[] | undefined) {
    super(exchange, wheel);
    this.#responseHeaders = responseHeaders;
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.isOver) return FAILED;
    if (head.status === 200) {
      const names = this.#responseHeaders ?? describing(head.fields);
      this.allow(({ request }) => {
        for (const name of names) {
          request.fields.remove(name);
          for (const value of head.fields.getAll(name)) request.fields.add(name, value);
        }
      });
      // Nobody reads its body.
      return piece.last ? WRITTEN : FAILED;
    }
    this.#denial = { status: denialStatus(head.status), fields: head.fields.toList() };
    return this.onUpstreamData(piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    if (this.isOver) return FAILED;
    if (this.#bodyBytes + piece.length > MOST_DENIAL_BYTES) {
      this.abandon();
      this.#relayDenial();
      return FAILED;
    }
    this.#body.push(piece.copy());
    this.#bodyBytes += piece.length;
    if (piece.last) this.#relayDenial();
    return WRITTEN;
  }

  onUpstreamTrailers(): void {
    this.#relayDenial();
  }

  #relayDenial(): void {
    if (this.#denial) this.deny(this.#denial.status, this.#denial.fields, Buffer.concat(this.#body));
  }
}

/** The names in an answer, without those that speak of its own body: the request has another one. */
function describing(fields: Fields): readonly string[] {
  const names = new Set<string>();
  fields.forEach((name) => {
    if (isPassable(name) && !name.startsWith('content-')) names.add(name);
  });
  return [...names];
}

/** A status that is no answer by itself is a plain denial. */
function denialStatus(status: number): number {
  return status >= 300 && status !== 304 ? status : 403;
}
