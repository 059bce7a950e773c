import type { Connection, ConnectionHandler, WireError } from '../wire/wire.js';
import { Allowance } from './allowance.js';
import { ENHANCE_YOUR_CALM } from './frame.js';
import { FrameWriter } from './frame-writer.js';

/** Bytes that are read and dropped after a fatal error, so that the GOAWAY is not lost to a reset. */
const MAX_DROPPED = 1_048_576;

/** Where all connections of the thread read; nothing of it is used after `onRead`. */
const sharedReadBuffer = Buffer.allocUnsafeSlow(65_536);

const PROBE = Buffer.from('presence', 'latin1');

/** An HTTP/2 connection towards its wire: input until it is stopped, output, and the ways in which it ends. */
export abstract class Http2Link implements ConnectionHandler {
  readonly writer: FrameWriter;
  /** A fatal error was made or received: nothing is read any more. */
  stopped = false;
  /** The wire is closed. */
  closed = false;

  protected readonly wire: Connection;
  /** The highest stream that the peer has begun. */
  protected lastStreamId = 0;
  /** Frames that cost us work and bring nothing: earned back by streams and DATA. */
  protected readonly control = new Allowance(1000, 100);

  /** Counts streams: a change is a sign of life. */
  get activity(): number {
    return this.lastStreamId;
  }

  /** Counts reads. */
  reads = 0;

  #dropped = 0;
  #ends = false;
  #awaitsPong = false;

  constructor(wire: Connection, connected: boolean) {
    this.wire = wire;
    this.writer = new FrameWriter(wire, !connected);
  }

  protected abstract onInput(buffer: Buffer, start: number, end: number): void;
  /** The writer takes DATA again. */
  protected abstract onWritable(): void;
  /** Nothing more is received: streams are lost. */
  protected abstract onEnded(detail: string): void;
  /** {@link fail} has ended the connection for us; the peer may still have to notice. */
  protected abstract onFailed(detail: string): void;
  /** Called once, last. */
  protected abstract onClosed(error: WireError | undefined): void;

  protected startReading(): void {
    this.wire.readInto(sharedReadBuffer);
    this.wire.resume();
  }

  onConnect(): void {
    // Only upstream connections are made by connecting.
  }

  onSecure(): void {
    // TLS was done before the protocol was known.
  }

  onRead(buffer: Buffer, length: number): void {
    this.read(buffer, 0, length);
  }

  protected read(buffer: Buffer, start: number, end: number): void {
    this.reads++;
    if (this.stopped) {
      this.#dropped += end - start;
      if (this.#dropped > MAX_DROPPED) this.wire.destroy();
      return;
    }
    this.onInput(buffer, start, end);
    if (this.writer.failed && !this.closed) this.wire.destroy();
  }

  onEnd(): void {
    // HTTP/2 knows no half-closed connections: streams end by frames.
    this.wire.destroy();
  }

  onDrain(): void {
    this.writer.onDrain();
    if (!this.#ends) this.onWritable();
    else if (this.writer.idle) this.wire.end();
  }

  onClose(error: WireError | undefined): void {
    this.stopped = true;
    this.closed = true;
    this.writer.onClose();
    this.onEnded(error?.message ?? 'the connection ended');
    this.onClosed(error);
  }

  /** RFC 9113 §5.4.1: GOAWAY, and the connection ends. */
  protected fail(code: number, detail: string): void {
    if (this.stopped) return;
    this.stopped = true;
    this.writer.goAway(this.lastStreamId, code);
    this.endWire();
    this.onEnded(detail);
    this.onFailed(detail);
  }

  /** Sends FIN once everything is written. */
  protected endWire(): void {
    this.#ends = true;
    this.writer.flush();
    if (this.writer.idle) this.wire.end();
  }

  /** Asks whether the peer is still there. @returns false when it has not answered the last time. */
  probe(): boolean {
    if (this.#awaitsPong) return false;
    this.#awaitsPong = true;
    this.writer.ping(PROBE, 0, false);
    return true;
  }

  /** The peer has answered a PING. */
  onPingAck(): void {
    this.#awaitsPong = false;
  }

  protected spendControl(): boolean {
    if (this.control.spend()) return true;
    this.fail(ENHANCE_YOUR_CALM, 'too many control frames');
    return false;
  }
}
