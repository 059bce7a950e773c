import { WRITTEN, type WriteOutcome } from '../wire/wire.js';
import type { DownstreamContext, DownstreamStream } from './downstream.js';

/** Nobody: the client has left, or there never was one. It takes everything at once. */
export class DetachedStream implements DownstreamStream {
  readonly context: DownstreamContext;

  constructor(context: DownstreamContext) {
    this.context = context;
  }

  sendInformational(): void {
    // Nobody listens.
  }

  sendHead(): WriteOutcome {
    return WRITTEN;
  }

  sendData(): WriteOutcome {
    return WRITTEN;
  }

  sendTrailers(): void {
    // Nobody listens.
  }

  abort(): void {
    // There is nothing to break off.
  }

  resumeBody(): void {
    // There is no body.
  }

  pauseBody(): void {
    // There is no body.
  }

  tunnelEnd(): undefined {
    return undefined;
  }

  release(): void {
    // There is no head to give back.
  }
}
