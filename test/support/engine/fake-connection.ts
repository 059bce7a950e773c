import {
  WRITTEN,
  type Connection,
  type ConnectionHandler,
  type PeerCertificate,
  type TlsSession,
  type WriteOutcome,
} from '../../../src/engine/wire/wire.js';

const nobody: ConnectionHandler = {
  onConnect: () => undefined,
  onSecure: () => undefined,
  onRead: () => undefined,
  onEnd: () => undefined,
  onDrain: () => undefined,
  onClose: () => undefined,
};

/** A connection without a peer: keeps what is written and what is called, and answers writes as told. */
export class FakeConnection implements Connection {
  handler: ConnectionHandler = nobody;
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = 1;
  readonly localAddress = '127.0.0.1';
  readonly localPort = 2;
  readonly alpn = '';
  /** What the next writes answer. */
  outcome: WriteOutcome = WRITTEN;
  /** One entry for each write. */
  readonly writes: string[] = [];
  readonly calls: string[] = [];
  #target: Buffer = Buffer.alloc(0);

  get text(): string {
    return this.writes.join('');
  }

  /** Bytes of the peer: they land where the handler wants them. */
  receive(text: string): void {
    const target = this.#target;
    this.handler.onRead(target, target.write(text, 'latin1'));
  }

  writeConstant(bytes: Buffer): WriteOutcome {
    return this.write(bytes);
  }

  peerCertificate(): PeerCertificate | undefined {
    return undefined;
  }

  tlsSession(): TlsSession | undefined {
    return undefined;
  }

  readInto(buffer: Buffer): void {
    this.#target = buffer;
  }

  resume(): void {
    this.calls.push('resume');
  }

  pause(): void {
    this.calls.push('pause');
  }

  write(bytes: Buffer, more?: Buffer): WriteOutcome {
    this.writes.push(bytes.toString('latin1') + (more?.toString('latin1') ?? ''));
    return this.outcome;
  }

  end(): void {
    this.calls.push('end');
  }

  close(): void {
    this.calls.push('close');
  }

  destroy(): void {
    this.calls.push('destroy');
  }

  reset(): void {
    this.calls.push('reset');
  }

  secure(): void {
    this.calls.push('secure');
  }
}

/** A body part that lies between `room` bytes of free space on either side. */
export function roomy(text: string, room: number): { buffer: Buffer; start: number; end: number } {
  const buffer = Buffer.alloc(room * 2 + text.length);
  buffer.write(text, room, 'latin1');
  return { buffer, start: room, end: room + text.length };
}
