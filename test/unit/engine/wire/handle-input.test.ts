import { expect } from 'chai';
import {
  UV_EOF,
  type HandleBindings,
  type HandleOwner,
  type TcpHandle,
} from '../../../../src/engine/wire/handle-bindings.js';
import { HandleInput } from '../../../../src/engine/wire/handle-input.js';
import type { TlsLayer } from '../../../../src/engine/wire/handle-tls.js';
import type { WireError } from '../../../../src/engine/wire/wire.js';

/** A stream of libuv that is driven by hand, and the connection that reads from it. */
class Bench {
  readonly calls: string[] = [];
  readonly bindings = { state: new Int32Array(1), readBytesOrError: 0 } as unknown as HandleBindings;
  readonly owner = {
    isConnected: true,
    closed: false,
    received: (buffer: Buffer, length: number) => {
      this.calls.push(`received ${buffer.toString('latin1', 0, length)}`);
      this.onReceived();
    },
    ended: () => this.calls.push('ended'),
    fail: (error: WireError | number) =>
      this.calls.push(`failed ${typeof error === 'number' ? error : error.code}`),
  };
  onReceived: () => void = () => undefined;
  readonly #landings = new Map<unknown, Buffer>();
  readonly raw = this.stream();
  readonly input = new HandleInput(this.bindings, this.raw, this.owner as unknown as HandleOwner);

  stream(): TcpHandle {
    const stream: unknown = {
      readStart: () => this.calls.push('start') * 0,
      readStop: () => this.calls.push('stop') * 0,
      useUserBuffer: (buffer: Buffer) => this.#landings.set(stream, buffer),
    };
    return stream as TcpHandle;
  }

  /** Bytes land as libuv lets them; answers where they have landed. */
  arrive(text: string, stream = this.raw): Buffer {
    const landing = this.#landings.get(stream);
    if (landing === undefined) throw new Error('nowhere to land');
    landing.write(text, 'latin1');
    this.signal(text.length, stream);
    return landing;
  }

  signal(lengthOrError: number, stream = this.raw): void {
    this.bindings.state[0] = lengthOrError;
    const next = stream.onread();
    if (next !== undefined) this.#landings.set(stream, next);
  }

  secure(): { readonly layer: { secured: boolean }; readonly stream: TcpHandle } {
    const layer = { secured: false, stream: this.stream() };
    this.input.secure(layer as unknown as TlsLayer);
    return { layer, stream: layer.stream };
  }
}

async function nextTick(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });
}

describe('HandleInput', () => {
  let bench: Bench;

  beforeEach(() => {
    bench = new Bench();
  });

  it('reads once there is a connection, a buffer, and somebody who wants bytes', () => {
    bench.owner.isConnected = false;
    bench.input.resume();
    bench.input.readInto(Buffer.alloc(10));
    expect(bench.calls).to.deep.equal([]);
    bench.owner.isConnected = true;
    bench.input.readOrStop();
    bench.input.readOrStop();
    expect(bench.calls).to.deep.equal(['start']);
    bench.input.pause();
    bench.input.pause();
    expect(bench.calls).to.deep.equal(['start', 'stop']);
  });

  it('lands the next bytes in the buffer that was given within a read', () => {
    const [first, second] = [Buffer.alloc(10), Buffer.alloc(10)];
    bench.input.readInto(first);
    bench.input.resume();
    bench.onReceived = () => {
      bench.input.readInto(second);
    };
    expect(bench.arrive('one')).to.equal(first);
    expect(bench.arrive('two')).to.equal(second);
    expect(bench.calls).to.deep.equal(['start', 'received one', 'received two']);
  });

  it('tells the end only to who wants it, once, and reads no more', async () => {
    bench.input.readInto(Buffer.alloc(10));
    bench.input.resume();
    bench.input.pause();
    bench.signal(UV_EOF);
    expect(bench.input.isEndTold).to.equal(false);
    bench.input.resume();
    expect(bench.calls).to.deep.equal(['start', 'stop']);
    await nextTick();
    bench.input.pause();
    bench.input.resume();
    await nextTick();
    expect(bench.calls).to.deep.equal(['start', 'stop', 'ended']);
    expect(bench.input.isEndTold).to.equal(true);
  });

  it('fails with what is no orderly end', () => {
    bench.input.readInto(Buffer.alloc(10));
    bench.input.resume();
    bench.signal(-104);
    expect(bench.calls).to.deep.equal(['start', 'failed -104']);
  });

  it('takes an end within the handshake for a cut, wanted or not', () => {
    const { stream } = bench.secure();
    bench.input.readOrStop();
    bench.signal(UV_EOF, stream);
    expect(bench.calls).to.deep.equal(['start', 'failed ECONNRESET']);
  });

  it('keeps what OpenSSL gives after a pause out of the buffer, and delivers it from a fresh stack', async () => {
    const own = Buffer.alloc(4);
    bench.input.readInto(own);
    bench.input.resume();
    const { layer, stream } = bench.secure();
    layer.secured = true;
    bench.onReceived = () => {
      bench.input.pause();
    };
    // The first bytes are copied out of the scratch, where OpenSSL stays while it is not wanted.
    expect(bench.arrive('abcd', stream)).to.not.equal(own);
    expect(bench.arrive('efghij', stream)).to.not.equal(own);
    expect(own.toString('latin1')).to.equal('abcd');
    expect(bench.calls).to.deep.equal(['start', 'received abcd', 'stop']);

    bench.onReceived = () => undefined;
    bench.input.resume();
    expect(bench.calls).to.have.length(3);
    await nextTick();
    expect(bench.calls.slice(3)).to.deep.equal(['received efgh', 'received ij', 'start']);
  });

  it('delivers nothing of what waited once the connection is closed', async () => {
    bench.input.readInto(Buffer.alloc(4));
    const { layer, stream } = bench.secure();
    layer.secured = true;
    bench.arrive('abcd', stream);
    bench.input.resume();
    bench.owner.closed = true;
    bench.input.drop();
    await nextTick();
    expect(bench.calls).to.deep.equal([]);
  });
});
