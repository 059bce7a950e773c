import type { Fields } from '../exchange/fields.js';
import { gatewayAnswer } from '../exchange/gateway-answer.js';
import type { ResponseHead } from '../exchange/heads.js';
import type { Piece } from '../exchange/piece.js';
import type { PooledBuffer } from '../wire/buffer-pool.js';
import { FAILED, PENDING, WRITTEN, type Connection, type WriteOutcome } from '../wire/wire.js';
import {
  CHUNK_END_BYTES,
  CHUNK_SIZE_BYTES,
  statusLine,
  writeBytes,
  writeChunkSizeBefore,
} from './encode-head.js';
import { LARGE_SCRATCH_BYTES, type Http1Worker } from './http1-worker.js';
import type { RawRequestHead } from './raw-heads.js';
import {
  encodeResponseHead,
  FRAMING_CHUNKED,
  FRAMING_CLOSE,
  FRAMING_LENGTH,
  FRAMING_NONE,
  FRAMING_TUNNEL,
  type Framing,
} from './response-encoder.js';

const CRLF = Buffer.from('\r\n', 'latin1');
/** Larger bodies are written from where they are stored. */
const MOST_SHARED_BYTES = 4096;
const LAST_CHUNK = Buffer.from('0\r\n\r\n', 'latin1');
const DATA_END_AND_LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n', 'latin1');

/** Bodies up to here are copied behind their head; writing both from where they are is cheaper for larger ones. */
const COPIED_BYTES = 8 * 1024;

/**
 * The response direction of a client connection: head, framing, body, one response after the other. It writes and says
 * how far it is; what follows from that is the connection's business.
 */
export class ResponseWriter {
  /** A final head was written. */
  begun = false;
  /** Everything of the response was written. */
  done = false;
  /** The wire has not taken everything yet. */
  pending = false;
  /** The connection ends with this response: said in its head, or the only way to end its body. */
  close = false;
  /** The body cannot be ended without the end of the connection. */
  framing: Framing = FRAMING_NONE;
  readonly #worker: Http1Worker;
  readonly #wire: Connection;
  /** Bytes that the announced length leaves to be sent. */
  #left = 0;
  #isHead = false;
  #minor = 1;
  #upgrade = '';
  #framedEnd = 0;
  /** The wire still has bytes in it. */
  #kept: PooledBuffer | undefined = undefined;

  constructor(worker: Http1Worker, wire: Connection) {
    this.#worker = worker;
    this.#wire = wire;
  }

  /** For the response to this request. `pending` and `close` are of the connection and stay. */
  reset(request: RawRequestHead): void {
    this.#isHead = request.method === 'HEAD';
    this.#minor = request.minor;
    this.#upgrade = request.upgrade;
    this.begun = false;
    this.done = false;
    this.framing = FRAMING_NONE;
  }

  /** The wire has taken everything. */
  drained(): void {
    this.pending = false;
    const kept = this.#kept;
    if (!kept) return;
    this.#kept = undefined;
    this.#worker.buffers.release(kept);
  }

  /** The answer to something that is no request. */
  refuse(status: number): WriteOutcome {
    this.#isHead = false;
    this.#minor = 1;
    this.#upgrade = '';
    this.done = false;
    this.close = true;
    const { head, body } = gatewayAnswer(status);
    return this.head(head, this.#worker.piece.set(body, 0, body.length, true));
  }

  informational(head: ResponseHead): void {
    // RFC 9110 section 15.2: HTTP/1.0 knows no interim responses.
    if (this.begun || this.#minor === 0) return;
    const { scratch } = this.#worker;
    let at = writeBytes(scratch, 0, statusLine(head.status));
    at = head.fields.writeHttp1(scratch, at);
    if (at < 0 || at + 2 > scratch.length) return;
    this.#writeScratch(scratch, writeBytes(scratch, at, CRLF));
  }

  continue(): void {
    if (!this.begun) this.write(statusContinue);
  }

  head(head: ResponseHead, piece: Piece): WriteOutcome {
    this.begun = true;
    const { shared } = head;
    if (shared && this.#isPlain(head, piece)) {
      const whole = (shared.http1 ??= this.#compose(head, piece));
      if (whole) return this.#writeWhole(whole);
    }
    const { form } = this.#worker;
    this.#chooseFraming(head, piece);
    form.framing = this.framing;
    form.close = this.close;
    form.upgrade = this.#upgrade;
    form.announceKeepAlive = this.#minor === 0;
    // Of what has no body by nature, only what the backend said is passed on.
    form.length = this.framing === FRAMING_LENGTH ? this.#left : -1;
    if (head.status === 204) head.fields.remove('content-length');

    let { scratch } = this.#worker;
    let end = encodeResponseHead(head, form, scratch, 0);
    if (end < 0) {
      scratch = Buffer.allocUnsafeSlow(LARGE_SCRATCH_BYTES);
      end = encodeResponseHead(head, form, scratch, 0);
      if (end < 0) return FAILED;
    }
    return this.#keep(piece, this.#writeHeadAndBody(scratch, end, piece));
  }

  /** Every client that gets the whole of it with nothing to say about the connection gets the same bytes. */
  #isPlain(head: ResponseHead, piece: Piece): boolean {
    const isWhole = piece.last && piece.length === head.contentLength && piece.length <= MOST_SHARED_BYTES;
    return isWhole && !this.#isHead && !this.close && this.#minor === 1;
  }

  #writeWhole(bytes: Buffer): WriteOutcome {
    this.framing = FRAMING_LENGTH;
    this.#left = 0;
    this.done = true;
    const outcome = this.#wire.writeConstant(bytes);
    if (outcome === PENDING) this.pending = true;
    return outcome;
  }

  #compose(head: ResponseHead, piece: Piece): Buffer | undefined {
    const { form, scratch } = this.#worker;
    form.framing = FRAMING_LENGTH;
    form.length = head.contentLength;
    form.close = false;
    form.announceKeepAlive = false;
    const end = encodeResponseHead(head, form, scratch, 0);
    return end < 0 ? undefined : Buffer.concat([scratch.subarray(0, end), piece.view()]);
  }

  data(piece: Piece): WriteOutcome {
    return this.#keep(piece, this.#writeData(piece));
  }

  /** The buffer of a last piece is ours when the wire has not taken everything. */
  #keep(piece: Piece, outcome: WriteOutcome): WriteOutcome {
    if (outcome === PENDING && piece.pooled) this.#kept = piece.pooled;
    return outcome;
  }

  #writeData(piece: Piece): WriteOutcome {
    const { length } = piece;
    switch (this.framing) {
      case FRAMING_LENGTH:
        if (length > this.#left || (piece.last && length < this.#left)) return FAILED;
        this.#left -= length;
        this.done = piece.last;
        return length === 0 ? WRITTEN : this.write(piece.view());
      case FRAMING_CHUNKED:
        this.done = piece.last;
        return this.#chunk(piece);
      case FRAMING_NONE:
        this.done = piece.last;
        return WRITTEN;
      default:
        this.done = piece.last;
        return length === 0 ? WRITTEN : this.write(piece.view());
    }
  }

  trailers(fields: Fields): WriteOutcome {
    this.done = true;
    if (this.framing === FRAMING_LENGTH && this.#left > 0) return FAILED;
    if (this.framing !== FRAMING_CHUNKED) return WRITTEN;
    const { scratch } = this.#worker;
    let at = writeBytes(scratch, 0, LAST_CHUNK) - CRLF.length;
    at = fields.writeHttp1(scratch, at);
    if (at < 0 || at + CRLF.length > scratch.length) return this.write(LAST_CHUNK);
    return this.#writeScratch(scratch, writeBytes(scratch, at, CRLF));
  }

  write(bytes: Buffer, more?: Buffer): WriteOutcome {
    const outcome = this.#wire.write(bytes, more);
    if (outcome === PENDING) this.pending = true;
    return outcome;
  }

  #chooseFraming(head: ResponseHead, piece: Piece): void {
    const { status, contentLength } = head;
    if (status === 101) {
      this.framing = FRAMING_TUNNEL;
      return;
    }
    if (this.#isHead || status === 204 || status === 304) {
      this.framing = FRAMING_NONE;
      this.done = true;
      return;
    }
    this.#left = contentLength >= 0 ? contentLength : piece.length;
    if (contentLength >= 0 || piece.last) {
      this.framing = FRAMING_LENGTH;
    } else if (this.#minor === 1) {
      this.framing = FRAMING_CHUNKED;
    } else {
      this.framing = FRAMING_CLOSE;
      this.close = true;
    }
  }

  /** One write where possible: the head goes before the body in the body's buffer, or the body behind the head. */
  #writeHeadAndBody(scratch: Buffer, end: number, piece: Piece): WriteOutcome {
    if (this.framing === FRAMING_NONE || (piece.length === 0 && !piece.last))
      return this.#writeScratch(scratch, end);
    if (this.framing === FRAMING_CHUNKED) {
      const { length } = piece;
      if (length > 0 && piece.roomBefore >= end + CHUNK_SIZE_BYTES && piece.roomAfter >= CHUNK_END_BYTES) {
        const start = this.#frameInPlace(piece);
        scratch.copy(piece.buffer, start - end, 0, end);
        return this.write(piece.buffer.subarray(start - end, this.#framedEnd));
      }
      if (end + CHUNK_SIZE_BYTES + length + CHUNK_END_BYTES <= scratch.length) {
        return this.#writeScratch(scratch, this.#putChunk(scratch, end, piece));
      }
      this.#writeScratch(scratch, end);
      return this.#writeData(piece);
    }
    const { length, buffer, start } = piece;
    if (this.framing === FRAMING_LENGTH) {
      if (length > this.#left || (piece.last && length < this.#left)) return FAILED;
      this.#left -= length;
    }
    this.done = piece.last;
    if (length === 0) return this.#writeScratch(scratch, end);
    if (piece.roomBefore >= end) {
      scratch.copy(buffer, start - end, 0, end);
      return this.write(buffer.subarray(start - end, piece.end));
    }
    if (length <= COPIED_BYTES && end + length <= scratch.length) {
      return this.#writeScratch(scratch, end + buffer.copy(scratch, end, start, piece.end));
    }
    return this.#writeScratch(scratch, end, piece.view());
  }

  #putChunk(scratch: Buffer, offset: number, piece: Piece): number {
    this.done = piece.last;
    let at = offset;
    if (piece.length > 0) {
      const sizeEnd = at + CHUNK_SIZE_BYTES;
      const sizeStart = writeChunkSizeBefore(scratch, sizeEnd, piece.length);
      scratch.copyWithin(at, sizeStart, sizeEnd);
      at += sizeEnd - sizeStart;
      at += piece.buffer.copy(scratch, at, piece.start, piece.end);
      at = writeBytes(scratch, at, CRLF);
    }
    return piece.last ? writeBytes(scratch, at, LAST_CHUNK) : at;
  }

  #chunk(piece: Piece): WriteOutcome {
    const { length, buffer } = piece;
    if (length === 0) return piece.last ? this.write(LAST_CHUNK) : WRITTEN;
    if (piece.roomBefore >= CHUNK_SIZE_BYTES && piece.roomAfter >= CHUNK_END_BYTES) {
      const start = this.#frameInPlace(piece);
      return this.write(buffer.subarray(start, this.#framedEnd));
    }
    const { scratch } = this.#worker;
    if (CHUNK_SIZE_BYTES + length + CHUNK_END_BYTES <= scratch.length) {
      return this.#writeScratch(scratch, this.#putChunk(scratch, 0, piece));
    }
    const size = Buffer.allocUnsafe(CHUNK_SIZE_BYTES);
    this.write(size.subarray(writeChunkSizeBefore(size, CHUNK_SIZE_BYTES, length)));
    this.write(piece.view());
    this.write(piece.last ? DATA_END_AND_LAST_CHUNK : CRLF);
    return this.pending ? PENDING : WRITTEN;
  }

  /** Puts the form of a chunk around the piece; answers its start, its end is `#framedEnd`. */
  #frameInPlace(piece: Piece): number {
    this.done = piece.last;
    this.#framedEnd = writeBytes(piece.buffer, piece.end, piece.last ? DATA_END_AND_LAST_CHUNK : CRLF);
    return writeChunkSizeBefore(piece.buffer, piece.start, piece.length);
  }

  #writeScratch(scratch: Buffer, end: number, more?: Buffer): WriteOutcome {
    const outcome = this.write(scratch.subarray(0, end), more);
    if (outcome === PENDING && scratch === this.#worker.scratch) this.#worker.leaveScratch(end);
    return outcome;
  }
}

const statusContinue = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
