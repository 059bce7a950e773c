import type { HandleOwner, TcpHandle } from './handle-bindings.js';
import { startWrite, type WriteContext } from './handle-callbacks.js';
import type { TlsLayer } from './handle-tls.js';
import { FAILED, PENDING, WRITTEN, type WriteOutcome } from './wire.js';
import type { BatchedWriter, WriteBatch } from './write-batch.js';

export interface OutputContext extends WriteContext {
  readonly batch: WriteBatch;
}

/** The writing side of a connection: before it is there, in the batch of a turn, to the kernel, or to OpenSSL. */
export class HandleOutput implements BatchedWriter {
  readonly #context: OutputContext;
  readonly #raw: TcpHandle;
  readonly #owner: HandleOwner;
  #tls: TlsLayer | undefined;
  /** Written before the connection was there. */
  #early: Buffer[] | undefined;
  /** Bytes that wait in the batch of this turn. */
  #batched = 0;
  /** Writes that the kernel has not taken all of. */
  #inFlight = 0;
  /** `onDrain` is due. */
  #owesDrain = false;

  constructor(context: OutputContext, raw: TcpHandle, owner: HandleOwner) {
    this.#context = context;
    this.#raw = raw;
    this.#owner = owner;
  }

  write(bytes: Buffer, more?: Buffer): WriteOutcome {
    const { batch } = this.#context;
    if (more === undefined && this.#isFree && batch.add(this, bytes)) return this.#waits(bytes);
    return this.#writeNow(bytes, more);
  }

  writeConstant(bytes: Buffer): WriteOutcome {
    if (this.#isFree && this.#context.batch.addConstant(this, bytes)) return this.#waits(bytes);
    return this.#writeNow(bytes);
  }

  writeBatched(bytes: Buffer): boolean {
    this.#batched -= bytes.length;
    if (this.#owner.closed) return true;
    const outcome = this.#write(bytes);
    if (this.#batched === 0) this.#owner.batchWritten();
    return outcome !== PENDING;
  }

  /** What waits in the batch goes to the kernel now. */
  flush(): void {
    if (this.#batched > 0) this.#context.batch.flush();
  }

  /** Writes what waited for the connection; answers whether the connection has survived it. */
  connected(): boolean {
    const early = this.#early ?? [];
    this.#early = undefined;
    return early.every((bytes) => this.#writePlain(bytes) !== FAILED);
  }

  /** From now on through OpenSSL. */
  secure(layer: TlsLayer): void {
    this.#tls = layer;
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) for (const bytes of early) layer.write(bytes);
  }

  /** A write to the kernel is over; answers whether it was the last one. */
  writeDone(): boolean {
    this.#inFlight--;
    return this.#inFlight === 0;
  }

  /** Whether `onDrain` is due; it is then the caller's. */
  takeDrain(): boolean {
    const owed = this.#owesDrain;
    this.#owesDrain = false;
    return owed;
  }

  /** A shutdown of the stream would come after everything that was written. */
  get mayShut(): boolean {
    if (this.#batched > 0 || this.#early !== undefined || !this.#owner.isConnected) return false;
    return this.#tls === undefined || this.#isFree;
  }

  /** No write is under way; of writes through OpenSSL the layer tells. */
  get isDrained(): boolean {
    return this.#tls === undefined && this.#inFlight === 0;
  }

  /** The kernel has everything, and there is no close alert to be sent. */
  get isInKernel(): boolean {
    return this.isDrained && this.#batched === 0 && this.#early === undefined;
  }

  /** The kernel, or OpenSSL, takes bytes at once. */
  get #isFree(): boolean {
    const tls = this.#tls;
    return tls === undefined ? this.#owner.isConnected && this.#inFlight === 0 : tls.secured && tls.idle;
  }

  #waits(bytes: Buffer): WriteOutcome {
    this.#batched += bytes.length;
    return WRITTEN;
  }

  #writeNow(bytes: Buffer, more?: Buffer): WriteOutcome {
    this.flush();
    const outcome = this.#owner.closed ? FAILED : this.#write(bytes, more);
    if (outcome === PENDING) this.#owesDrain = true;
    return outcome;
  }

  #write(bytes: Buffer, more?: Buffer): WriteOutcome {
    if (this.#tls !== undefined) return this.#writeTls(this.#tls, bytes, more);
    if (this.#owner.isConnected) return this.#writePlain(bytes, more);
    (this.#early ??= []).push(bytes);
    if (more !== undefined) this.#early.push(more);
    return PENDING;
  }

  #writePlain(bytes: Buffer, more?: Buffer): WriteOutcome {
    const status = startWrite(this.#raw, this.#context, bytes, more);
    if (status === 0) return WRITTEN;
    if (status < 0) {
      this.#owner.fail(status);
      return FAILED;
    }
    this.#inFlight++;
    return PENDING;
  }

  #writeTls(tls: TlsLayer, bytes: Buffer, more?: Buffer): WriteOutcome {
    if (bytes.length === 0) return this.#owesDrain ? PENDING : WRITTEN;
    const status = tls.write(bytes, more);
    if (status === 1) return PENDING;
    if (status === 0) return WRITTEN;
    this.#owner.fail(status);
    return FAILED;
  }
}
