const REMEMBERED = 128;

/** The peer reset the stream. */
export const RESET_BY_PEER = 1;
/** We did: frames that were on their way are ignored (RFC 9113 §5.4.2). */
export const RESET_BY_US = 2;
/** Both sides ended it, or it is too long ago. */
export const ENDED = 0;

/** The streams that were reset last: what RFC 9113 §5.1 asks for a frame on a closed stream depends on how it closed. */
export class ClosedStreams {
  readonly #ids = new Uint32Array(REMEMBERED);
  readonly #how = new Uint8Array(REMEMBERED);
  #next = 0;

  add(id: number, how: typeof RESET_BY_PEER | typeof RESET_BY_US): void {
    this.#ids[this.#next] = id;
    this.#how[this.#next] = how;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /** @returns how the stream closed. */
  find(id: number): number {
    const at = this.#ids.lastIndexOf(id);
    return at < 0 ? ENDED : (this.#how[at] ?? ENDED);
  }
}
