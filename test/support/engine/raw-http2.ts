import type { Socket } from 'node:net';
import * as frame from '../../../src/engine/http2/frame.js';
import { HeaderDecoder } from '../../../src/engine/http2/hpack/header-decoder.js';
import { HeaderEncoder } from '../../../src/engine/http2/hpack/header-encoder.js';
import { CLIENT_PREFACE } from '../../../src/engine/http2/preface.js';
import { until } from '../until.js';

export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

/** The bytes of a frame, right or wrong. */
export function frameOf(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function settingsOf(...settings: (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * 6);
  for (const [i, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  }
  return frameOf(frame.SETTINGS, 0, 0, payload);
}

/** A peer that speaks frames by hand, as a client or (`asServer`) as a backend. */
export class RawPeer {
  readonly frames: RawFrame[] = [];
  closed = false;
  readonly encoder = new HeaderEncoder();
  readonly #decoder = new HeaderDecoder(1 << 24);
  #rest = Buffer.alloc(0);
  #preface: number;

  constructor(
    readonly socket: Socket,
    asServer = false,
  ) {
    this.#preface = asServer ? CLIENT_PREFACE.length : 0;
    socket.on('error', () => undefined);
    socket.on('close', () => (this.closed = true));
    socket.on('data', (chunk: Buffer) => {
      this.#read(chunk);
    });
    if (!asServer) this.send(CLIENT_PREFACE);
  }

  send(...bytes: Buffer[]): void {
    this.socket.write(Buffer.concat(bytes));
  }

  /** The preface is sent; these settings and the acknowledgement of theirs follow. */
  greet(...settings: (readonly [number, number])[]): void {
    this.send(settingsOf(...settings), frameOf(frame.SETTINGS, frame.FLAG_ACK, 0));
  }

  block(fields: readonly string[]): Buffer {
    this.encoder.begin();
    for (let i = 0; i + 1 < fields.length; i += 2) this.encoder.field(fields[i] ?? '', fields[i + 1] ?? '');
    return Buffer.from(this.encoder.bytes.subarray(0, this.encoder.length));
  }

  headers(id: number, fields: readonly string[], ends = true): Buffer {
    const flags = frame.FLAG_END_HEADERS | (ends ? frame.FLAG_END_STREAM : 0);
    return frameOf(frame.HEADERS, flags, id, this.block(fields));
  }

  request(id: number, path = '/', fields: readonly string[] = [], ends = true): Buffer {
    return this.headers(
      id,
      [':method', ends ? 'GET' : 'POST', ':scheme', 'http', ':path', path, ':authority', 'a.test', ...fields],
      ends,
    );
  }

  data(id: number, text: string | Buffer, ends = true): Buffer {
    return frameOf(frame.DATA, ends ? frame.FLAG_END_STREAM : 0, id, Buffer.from(text));
  }

  of(type: number, id?: number): RawFrame[] {
    return this.frames.filter((seen) => seen.type === type && (id === undefined || seen.id === id));
  }

  async until(condition: (peer: RawPeer) => boolean): Promise<void> {
    await until(() => condition(this), 1);
  }

  /** The code of the GOAWAY, after the connection has been closed. */
  async goneAway(): Promise<number> {
    await this.until((peer) => peer.closed || peer.of(frame.GOAWAY).length > 0);
    return this.of(frame.GOAWAY).at(-1)?.payload.readUInt32BE(4) ?? -1;
  }

  /** The code of the RST_STREAM. */
  async reset(id: number): Promise<number> {
    await this.until((peer) => peer.closed || peer.of(frame.RST_STREAM, id).length > 0);
    return this.of(frame.RST_STREAM, id)[0]?.payload.readUInt32BE(0) ?? -1;
  }

  /** The fields of the HEADERS frames of a stream; blocks must be asked for in the order in which they came. */
  async head(id: number): Promise<string[]> {
    await this.until((peer) => peer.closed || peer.of(frame.HEADERS, id).length > 0);
    const [first] = this.of(frame.HEADERS, id);
    if (!first) throw new Error(`no head on stream ${id}`);
    return this.#decoder.decode(first.payload, 0, first.payload.length) ?? [];
  }

  async body(id: number): Promise<Buffer> {
    const isEnd = ({ type, flags }: RawFrame): boolean =>
      (type === frame.DATA || type === frame.HEADERS) && (flags & frame.FLAG_END_STREAM) !== 0;
    await this.until((peer) => peer.closed || peer.frames.some((seen) => seen.id === id && isEnd(seen)));
    return Buffer.concat(this.of(frame.DATA, id).map(({ payload }) => payload));
  }

  #read(chunk: Buffer): void {
    const skipped = Math.min(this.#preface, chunk.length);
    this.#preface -= skipped;
    let rest = Buffer.concat([this.#rest, chunk.subarray(skipped)]);
    while (rest.length >= 9) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < 9 + length) break;
      this.frames.push({
        type: rest[3] ?? 0,
        flags: rest[4] ?? 0,
        id: rest.readUInt32BE(5) & 0x7fff_ffff,
        payload: Buffer.from(rest.subarray(9, 9 + length)),
      });
      rest = rest.subarray(9 + length);
    }
    this.#rest = Buffer.from(rest);
  }
}
