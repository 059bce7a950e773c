import type { TrafficCounters } from '../../telemetry/traffic-counters.js';
import type { Exchange, RequestBodyTap } from '../exchange/exchange.js';
import { PlainRequestHead } from '../exchange/heads.js';
import { Piece } from '../exchange/piece.js';
import {
  type EndpointConnector,
  isUnavailable,
  type OutboundRequest,
  type UpstreamHandler,
  type UpstreamStream,
  type UpstreamTarget,
} from '../exchange/upstream.js';
import { PENDING, WRITTEN, type WriteOutcome } from '../wire/wire.js';
import type { MirrorSender } from './mirror.js';

/** Copies that may be on their way at a time; more are dropped. */
const MOST_IN_FLIGHT = 1024;
/** What of a body waits for a mirror that is slower than the backend; a copy that needs more is given up. */
const MOST_WAITING_BYTES = 256 * 1024;

/** Sends copies of requests and throws their answers away. A mirror that is slow or gone costs the request nothing. */
export class MirrorClient implements MirrorSender {
  readonly #counters: Pick<TrafficCounters, 'count'>;
  #inFlight = 0;

  constructor(counters: Pick<TrafficCounters, 'count'>) {
    this.#counters = counters;
  }

  send(exchange: Exchange, upstream: UpstreamTarget): void {
    const connector = upstream.choose(undefined, undefined);
    if (this.#inFlight >= MOST_IN_FLIGHT || isUnavailable(connector)) {
      this.#counters.count('mirrorsDropped', 1);
      return;
    }
    this.#inFlight += 1;
    const copy = new MirrorCopy((completed) => {
      this.#inFlight -= 1;
      this.#counters.count(completed ? 'mirrorsSent' : 'mirrorsDropped', 1);
    });
    copy.open(exchange, connector);
  }
}

/** One copy of a request. */
class MirrorCopy implements UpstreamHandler, RequestBodyTap {
  readonly #onOver: (completed: boolean) => void;
  #stream: UpstreamStream | undefined;
  #blocked = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lastWaits = false;
  #over = false;

  constructor(onOver: (completed: boolean) => void) {
    this.#onOver = onOver;
  }

  open(exchange: Exchange, connector: EndpointConnector): void {
    const head = PlainRequestHead.of(exchange.request);
    const hasBody = head.contentLength !== 0;
    const request: OutboundRequest = { head, piece: new Piece().clear(!hasBody), mayReuse: true };
    this.#stream = connector.open(request, this);
    if (hasBody) exchange.tapBody(this);
  }

  onBody(piece: Piece): void {
    if (this.#over) return;
    const bytes = piece.copy();
    if (!this.#blocked) {
      this.#send(bytes, piece.last);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#lastWaits = piece.last;
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#giveUp();
  }

  onBodyAbort(): void {
    this.#giveUp();
  }

  onUpstreamDrain(): void {
    this.#blocked = false;
    if (this.#waiting.length === 0 && !this.#lastWaits) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#send(bytes, this.#lastWaits);
  }

  onUpstreamInformational(): void {
    // Nobody wants to know.
  }

  onUpstreamHead(_head: unknown, piece: Piece): WriteOutcome {
    return this.#discard(piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    return this.#discard(piece);
  }

  onUpstreamTrailers(): void {
    this.#end(true);
  }

  onUpstreamFailure(): void {
    this.#end(false);
  }

  #send(bytes: Buffer, last: boolean): void {
    const outcome = this.#stream?.sendData(new Piece().set(bytes, 0, bytes.length, last));
    this.#blocked = outcome === PENDING;
  }

  #discard(piece: Piece): WriteOutcome {
    if (piece.last) this.#end(true);
    return WRITTEN;
  }

  #giveUp(): void {
    if (this.#over) return;
    this.#stream?.abort();
    this.#end(false);
  }

  #end(completed: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiting = [];
    this.#onOver(completed);
  }
}
