import type { Exchange, RequestBodyTap } from '../../exchange/exchange.js';
import type { Piece } from '../../exchange/piece.js';
import { SUSPENDED, type StepOutcome } from '../../exchange/route-entry.js';

/** Asks with the body of the request as far as the limit allows; undefined: without one. */
export function askWithBody(
  exchange: Exchange,
  limit: number,
  ask: (body: Buffer | undefined) => StepOutcome,
): StepOutcome {
  if (limit === 0 || exchange.request.contentLength === 0) return ask(undefined);
  // A larger body is sent truncated (ForwardBody.maxSize), so its beginning is kept apart.
  const beginning = new Beginning(limit);
  exchange.tapBody(beginning);
  exchange.collectBody(limit, (body) => {
    if (!exchange.closed) ask(body ?? beginning.bytes());
  });
  return SUSPENDED;
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
