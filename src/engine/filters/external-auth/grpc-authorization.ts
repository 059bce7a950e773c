import type { ExternalAuth } from '../../../ir/http-filter.js';
import type { Exchange } from '../../exchange/exchange.js';
import { FieldList, type Fields } from '../../exchange/fields.js';
import { PlainRequestHead, type ResponseHead } from '../../exchange/heads.js';
import { Piece } from '../../exchange/piece.js';
import {
  ANSWERED,
  type RequestStep,
  type ResponseStep,
  type StepOutcome,
  SUSPENDED,
} from '../../exchange/route-entry.js';
import type { TimerWheel } from '../../exchange/timer-wheel.js';
import { isUnavailable, type UpstreamTarget } from '../../exchange/upstream.js';
import { FAILED, WRITTEN, type WriteOutcome } from '../../wire/wire.js';
import { AUTHORIZATION_TIMEOUT_MS, AuthorizationCall } from './authorization-call.js';
import {
  decodeCheckResponse,
  encodeCheckRequest,
  type Allowance,
  type HeaderChange,
} from './check-messages.js';
import { askWithBody } from './forwarded-body.js';
import { isPassable, passableNames } from './passable-fields.js';

const CHECK = '/envoy.service.auth.v3.Authorization/Check';
/** Flag and length before each message of gRPC. */
const PREFIX_BYTES = 5;
const MOST_ANSWER_BYTES = 256 * 1024;

/**
 * Asks a service of Envoy's `ext_authz` protocol, version 3 (GEP-1494). Only its plain "OK" lets the request pass;
 * everything else, and everything that cannot be understood, denies.
 */
export class GrpcAuthorization implements RequestStep {
  /** Puts what the service wants on the response there. */
  readonly responseStep: ResponseStep = {
    run: (exchange, head) => {
      change(head.fields, this.#responseHeaders.get(exchange) ?? []);
    },
  };
  readonly #filter: ExternalAuth;
  readonly #upstream: UpstreamTarget;
  readonly #wheel: TimerWheel;
  /** Empty: all. */
  readonly #requestHeaders: ReadonlySet<string>;
  readonly #responseHeaders = new WeakMap<Exchange, readonly HeaderChange[]>();

  constructor(filter: ExternalAuth, upstream: UpstreamTarget, wheel: TimerWheel) {
    this.#filter = filter;
    this.#upstream = upstream;
    this.#wheel = wheel;
    this.#requestHeaders = new Set(filter.allowedRequestHeaders.map((name) => name.toLowerCase()));
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
    const message = framed(encodeCheckRequest(exchange, this.#allowedHeaders(exchange.request.fields), body));
    const head = new PlainRequestHead({
      method: 'POST',
      scheme: 'http',
      authority: `${connector.endpoint.address}:${String(connector.endpoint.port)}`,
      path: CHECK,
      fields: new FieldList([
        'content-type',
        'application/grpc',
        'grpc-timeout',
        `${String(AUTHORIZATION_TIMEOUT_MS)}m`,
      ]),
      contentLength: -1,
      acceptsTrailers: true,
    });
    const call = new GrpcCall(exchange, this.#wheel, (allowance) => {
      apply(exchange, allowance);
      if (allowance.responseHeaders.length > 0)
        this.#responseHeaders.set(exchange, allowance.responseHeaders);
    });
    const piece = new Piece().set(message, 0, message.length, true);
    call.begin(connector.open({ head, piece, mayReuse: true }, call));
    return SUSPENDED;
  }

  #allowedHeaders(fields: Fields): ReadonlyMap<string, string> {
    const headers = new Map<string, string>();
    fields.forEach((name, value) => {
      if (this.#requestHeaders.size > 0 && !this.#requestHeaders.has(name)) return;
      const before = headers.get(name);
      // RFC 9110 section 5.3; RFC 9113 section 8.2.3 for cookies.
      headers.set(name, before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ','}${value}`);
    });
    return headers;
  }
}

class GrpcCall extends AuthorizationCall {
  readonly #allowed: (allowance: Allowance) => void;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(exchange: Exchange, wheel: TimerWheel, allowed: (allowance: Allowance) => void) {
    super(exchange, wheel);
    this.#allowed = allowed;
  }

  onUpstreamHead(head: ResponseHead, piece: Piece): WriteOutcome {
    if (this.isOver) return FAILED;
    const isGrpc = head.fields.get('content-type')?.startsWith('application/grpc') === true;
    if (head.status !== 200 || !isGrpc) {
      return this.#give('the answer is not gRPC');
    }
    // An answer that is trailers only.
    const status = head.fields.get('grpc-status');
    if (status !== undefined && status !== '0') return this.#give(`gRPC status ${status}`);
    return this.onUpstreamData(piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    if (this.isOver) return FAILED;
    this.#length += piece.length;
    if (this.#length > MOST_ANSWER_BYTES) return this.#give('the answer is too long');
    this.#parts.push(piece.copy());
    return piece.last ? this.#give('the answer has no status') : WRITTEN;
  }

  onUpstreamTrailers(fields: Fields): void {
    const status = fields.get('grpc-status');
    if (status === '0') this.#decide(Buffer.concat(this.#parts));
    else this.refuse(503, `gRPC status ${status ?? 'missing'}`);
  }

  #give(detail: string): typeof FAILED {
    this.abandon();
    this.refuse(503, detail);
    return FAILED;
  }

  #decide(bytes: Buffer): void {
    // Compression was not offered, and there is exactly one message.
    const isWhole =
      bytes.length >= PREFIX_BYTES && bytes[0] === 0 && bytes.readUInt32BE(1) === bytes.length - PREFIX_BYTES;
    const answer = isWhole ? decodeCheckResponse(bytes.subarray(PREFIX_BYTES)) : undefined;
    if (!answer) {
      this.refuse(503, 'the answer is no CheckResponse, or asks for what is not supported');
    } else if (answer.allowed) {
      this.allow(() => {
        this.#allowed(answer);
      });
    } else {
      const fields = new FieldList();
      change(fields, answer.headers);
      this.deny(answer.status, fields, answer.body);
    }
  }
}

function apply({ request }: Exchange, { requestHeaders, requestHeadersToRemove }: Allowance): void {
  for (const name of passableNames(requestHeadersToRemove)) request.fields.remove(name);
  change(request.fields, requestHeaders);
}

function change(fields: Fields, changes: readonly HeaderChange[]): void {
  for (const { name, value, action } of changes) {
    if (!isPassable(name)) continue;
    const exists = fields.has(name);
    if (action === 'append' || (action === 'add-if-absent' && !exists)) fields.add(name, value);
    else if (action === 'overwrite' || (action === 'overwrite-if-exists' && exists)) fields.set(name, value);
  }
}

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
