import type { Fields } from '../exchange/fields.js';
import type { RequestHead } from '../exchange/heads.js';
import type { Piece } from '../exchange/piece.js';
import { FAILED, PENDING, WRITTEN, type Connection, type WriteOutcome } from '../wire/wire.js';
import {
  CHUNK_END_BYTES,
  CHUNK_SIZE_BYTES,
  encodeRequestHead,
  writeBytes,
  writeChunkSizeBefore,
} from './encode-head.js';
import type { Http1UpstreamWorker } from './http1-upstream-worker.js';

const CRLF = Buffer.from('\r\n', 'latin1');
const LAST_CHUNK = Buffer.from('0\r\n\r\n', 'latin1');
const DATA_END_AND_LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n', 'latin1');

/** The request direction of a connection to a backend. Until it is connected what is written is copied and queued. */
export class RequestWriter {
  /** The whole request was written (or queued). */
  done = false;
  pending = false;
  /** Bytes go bare: the request was answered with 101. */
  tunnel = false;
  connected = false;
  readonly #worker: Http1UpstreamWorker;
  #wire: Connection | undefined;
  #chunked = false;
  #queue: Buffer[] = [];

  constructor(worker: Http1UpstreamWorker) {
    this.#worker = worker;
  }

  attach(wire: Connection): void {
    this.#wire = wire;
  }

  /** What follows is a direction of a tunnel, which ends by itself. */
  beginTunnel(): void {
    this.tunnel = true;
    this.done = false;
  }

  /** The connection is there: what waited leaves. */
  flush(): void {
    this.connected = true;
    this.pending = false;
    const queue = this.#queue;
    this.#queue = [];
    const [only] = queue;
    if (only) this.#write(queue.length === 1 ? only : Buffer.concat(queue));
  }

  /** The head with what there is of the body, in one write unless the body is large. */
  begin(head: RequestHead, piece: Piece): WriteOutcome {
    const { scratch } = this.#worker;
    this.done = piece.last;
    this.tunnel = false;
    this.#chunked = head.contentLength < 0;
    let end = encodeRequestHead(head, scratch, 0);
    if (end < 0) return FAILED;
    const { length } = piece;
    if (end + CHUNK_SIZE_BYTES + length + CHUNK_END_BYTES > scratch.length) {
      this.#writeScratch(scratch, end);
      return this.data(piece);
    }
    end = this.#chunked ? this.#putChunk(scratch, end, piece) : end + copyPiece(piece, scratch, end);
    return this.#writeScratch(scratch, end);
  }

  data(piece: Piece): WriteOutcome {
    const { length, buffer } = piece;
    if (piece.last) this.done = true;
    if (!this.#chunked || this.tunnel) return length === 0 ? WRITTEN : this.#write(piece.view());
    if (length === 0) return piece.last ? this.#write(LAST_CHUNK) : WRITTEN;
    const ending = piece.last ? DATA_END_AND_LAST_CHUNK : CRLF;
    if (piece.roomBefore >= CHUNK_SIZE_BYTES && piece.roomAfter >= CHUNK_END_BYTES) {
      const start = writeChunkSizeBefore(buffer, piece.start, length);
      return this.#write(buffer.subarray(start, writeBytes(buffer, piece.end, ending)));
    }
    const { scratch } = this.#worker;
    return this.#writeScratch(scratch, this.#putChunk(scratch, 0, piece));
  }

  trailers(fields: Fields): void {
    this.done = true;
    if (!this.#chunked) return;
    const { scratch } = this.#worker;
    const end = fields.writeHttp1(scratch, writeBytes(scratch, 0, LAST_CHUNK) - CRLF.length);
    if (end < 0 || end + CRLF.length > scratch.length) this.#write(LAST_CHUNK);
    else this.#writeScratch(scratch, writeBytes(scratch, end, CRLF));
  }

  #putChunk(scratch: Buffer, offset: number, piece: Piece): number {
    let at = offset;
    if (piece.length > 0) {
      const sizeEnd = at + CHUNK_SIZE_BYTES;
      const sizeStart = writeChunkSizeBefore(scratch, sizeEnd, piece.length);
      scratch.copyWithin(at, sizeStart, sizeEnd);
      at += sizeEnd - sizeStart;
      at += copyPiece(piece, scratch, at);
      at = writeBytes(scratch, at, CRLF);
    }
    return piece.last ? writeBytes(scratch, at, LAST_CHUNK) : at;
  }

  #writeScratch(scratch: Buffer, end: number): WriteOutcome {
    const { connected } = this;
    const outcome = this.#write(scratch.subarray(0, end));
    if (outcome === PENDING && connected && scratch === this.#worker.scratch) this.#worker.leaveScratch(end);
    return outcome;
  }

  #write(bytes: Buffer): WriteOutcome {
    if (!this.connected || !this.#wire) {
      this.#queue.push(Buffer.from(bytes));
      this.pending = true;
      return PENDING;
    }
    const outcome = this.#wire.write(bytes);
    if (outcome === PENDING) this.pending = true;
    return outcome;
  }
}

function copyPiece(piece: Piece, target: Buffer, offset: number): number {
  return piece.length === 0 ? 0 : piece.buffer.copy(target, offset, piece.start, piece.end);
}
