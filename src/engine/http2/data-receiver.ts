import { PROTOCOL_ERROR } from './frame.js';
import { inboundGather } from './inbound-gather.js';

/** What the receiver needs of a stream. */
interface ReceivingStream {
  readonly id: number;
  readonly gone: boolean;
  readonly remoteClosed: boolean;
  /** @returns false when the body is longer than promised. */
  countReceived(length: number): boolean;
  /** Bytes were taken that flow control counts. */
  consume(length: number): void;
  /** The message is complete. @returns false when it is shorter than promised. */
  endRemote(): boolean;
}

/** What the receiver needs of its connection. */
export interface DataReceiverHost<S extends ReceivingStream> {
  /** A stream's turn to take what was gathered. @returns true when the buffer was given away. */
  takeGathered(stream: S, last: boolean): boolean;
  onStreamError(id: number, code: number, detail: string): void;
}

/**
 * The DATA of one connection on its way to the streams: what comes for one of them in a row is gathered and handed on as
 * one piece, at the latest when the read ends. Whoever stops the gathering hands on or drops what was gathered: the next
 * stream, of any connection, finds nothing of it.
 */
export class DataReceiver<S extends ReceivingStream> {
  readonly #host: DataReceiverHost<S>;
  /** The stream of the frame that is being read. */
  #stream: S | undefined = undefined;
  /** Padding of that frame, which flow control counts. */
  #overhead = 0;
  #gathering: S | undefined = undefined;

  constructor(host: DataReceiverHost<S>) {
    this.#host = host;
  }

  /** A frame for the stream begins. */
  begin(stream: S, overhead: number): void {
    this.#stream = stream;
    this.#overhead = overhead;
  }

  /** A part of that frame; `last` when the message ends with it. */
  receive(buffer: Buffer, start: number, end: number, last: boolean): void {
    const stream = this.#stream;
    if (stream === undefined || stream.gone) return;
    if (this.#overhead > 0) {
      stream.consume(this.#overhead);
      this.#overhead = 0;
    }
    if (!stream.countReceived(end - start)) {
      this.#host.onStreamError(stream.id, PROTOCOL_ERROR, 'body longer than its content-length');
      return;
    }
    if (this.#gathering !== stream) this.gatherFor(stream);
    this.#append(stream, buffer, start, end);
    if (!last) return;
    if (stream.endRemote()) this.flush();
    else this.#host.onStreamError(stream.id, PROTOCOL_ERROR, 'body shorter than its content-length');
  }

  #append(stream: S, buffer: Buffer, start: number, end: number): void {
    for (let at = start; at < end;) {
      const taken = inboundGather.append(buffer, at, end);
      at += taken;
      if (taken === 0) this.gatherFor(stream);
    }
  }

  /** What is received next is this stream's. */
  gatherFor(stream: S): void {
    this.flush();
    this.#gathering = stream;
  }

  isGatheringFor(stream: S): boolean {
    return this.#gathering === stream;
  }

  /** Hands on what was gathered. */
  flush(): void {
    const stream = this.#gathering;
    if (stream === undefined) return;
    this.#gathering = undefined;
    if (this.#host.takeGathered(stream, stream.remoteClosed)) inboundGather.giveAway();
  }

  /** Nobody wants what was gathered. */
  drop(): void {
    if (this.#gathering === undefined) return;
    this.#gathering = undefined;
    inboundGather.clear();
  }

  /** Nothing more is received. */
  end(): void {
    this.#stream = undefined;
    this.drop();
  }
}
