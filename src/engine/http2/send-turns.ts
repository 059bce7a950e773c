import type { Http2Stream } from './http2-stream.js';

/** DATA frames that a waiting stream sends before the next one has its turn. */
const FRAMES_PER_TURN = 1;

/** Streams of one connection that have DATA which their own windows allow, in the order of their turns. */
export class SendTurns {
  #waiting: Http2Stream[] = [];
  #turn: Http2Stream[] = [];
  #running = false;

  add(stream: Http2Stream): void {
    if (stream.queued) return;
    stream.queued = true;
    this.#waiting.push(stream);
  }

  /** Gives turns while `mayGo` says that the connection takes DATA. Streams add themselves again. */
  run(mayGo: () => boolean): void {
    if (this.#running || this.#waiting.length === 0) return;
    this.#running = true;
    while (this.#waiting.length > 0 && mayGo()) {
      const turn = this.#waiting;
      this.#waiting = this.#turn;
      this.#turn = turn;
      for (const stream of turn) {
        stream.queued = false;
        stream.pumpQueued(FRAMES_PER_TURN);
      }
      turn.length = 0;
    }
    this.#running = false;
  }
}
