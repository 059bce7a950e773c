import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dice } from '../seeded-random.js';
import { drained } from './drained.js';
import { firstFault, patternOf } from './pattern.js';
import { readTarget, type Framing } from './task.js';

/**
 * An HTTP/1.1 origin that answers with patterns, written at random split points, with pauses, and read likewise.
 * Wrong bytes of uploads are told to `fault`.
 */
export class PatternOrigin {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(dice: Dice, fault: (text: string) => void) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // The gateway ends connections at any time: that is what is tested.
      socket.on('error', () => undefined);
      void serve(socket, dice, fault);
    });
  }

  static async start(dice: Dice, fault: (text: string) => void): Promise<PatternOrigin> {
    const origin = new PatternOrigin(dice, fault);
    origin.#server.listen(0, '127.0.0.1');
    await once(origin.#server, 'listening');
    return origin;
  }

  get port(): number {
    // It listens on TCP, so its address is of this kind.
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function serve(socket: Socket, dice: Dice, fault: (text: string) => void): Promise<void> {
  const reader = new RequestReader(socket, dice, fault);
  try {
    let target = await reader.next();
    while (target !== undefined && (await answer(socket, target, dice))) target = await reader.next();
  } catch {
    // The gateway went away.
  } finally {
    socket.destroy();
  }
}

/** Reads requests one after the other and compares what they upload. */
class RequestReader {
  readonly #chunks: AsyncIterator<unknown>;
  readonly #dice: Dice;
  readonly #fault: (text: string) => void;
  #kept: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, dice: Dice, fault: (text: string) => void) {
    this.#chunks = socket[Symbol.asyncIterator]();
    this.#dice = dice;
    this.#fault = fault;
  }

  /** The target of a request that has come as a whole; undefined when there is none. */
  async next(): Promise<string | undefined> {
    let end = this.#kept.indexOf('\r\n\r\n');
    while (end < 0) {
      if (!(await this.#more())) return undefined;
      end = this.#kept.indexOf('\r\n\r\n');
    }
    const head = this.#kept.toString('latin1', 0, end);
    this.#kept = this.#kept.subarray(end + 4);
    const target = head.split(' ')[1] ?? '';
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    return (await this.#readUpload(target, length)) ? target : undefined;
  }

  async #readUpload(target: string, length: number): Promise<boolean> {
    const { seed } = readTarget(target);
    let received = 0;
    while (received < length) {
      if (this.#kept.length === 0 && !(await this.#more())) return false;
      const taken = this.#kept.subarray(0, length - received);
      const wrong = firstFault(taken, seed, received);
      if (wrong >= 0) this.#fault(`origin: wrong byte at ${wrong} of an upload to ${target}`);
      received += taken.length;
      this.#kept = this.#kept.subarray(taken.length);
    }
    return true;
  }

  async #more(): Promise<boolean> {
    if (this.#dice.chance(5)) await nextTurn();
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    // Without an encoding a socket gives buffers.
    this.#kept = Buffer.concat([this.#kept, next.value as Buffer]);
    return true;
  }
}

/** False when the connection cannot be used again. */
async function answer(socket: Socket, target: string, dice: Dice): Promise<boolean> {
  const { seed, size, framing } = readTarget(target);
  const cacheable = target.startsWith('/c/') ? `Cache-Control: max-age=${1 + dice.roll(3)}\r\n` : '';
  const head = `HTTP/1.1 200 OK\r\nDate: ${new Date().toUTCString()}\r\n${cacheable}${framingOf(framing, size)}\r\n`;
  const stopAt = framing === 'cut' ? dice.roll(size) : size;
  await writeSplit(socket, Buffer.from(head), dice);
  for (let sent = 0; sent < stopAt;) {
    const to = Math.min(stopAt, sent + 1 + dice.roll(dice.pick(100, 5_000, 70_000, 300_000)));
    const bytes = patternOf(seed, sent, to);
    if (framing === 'chunked') await write(socket, Buffer.from(`${(to - sent).toString(16)}\r\n`));
    await write(socket, bytes);
    if (framing === 'chunked') await write(socket, Buffer.from('\r\n'));
    sent = to;
    if (dice.chance(10)) await nextTurn();
  }
  if (framing === 'chunked') await writeSplit(socket, Buffer.from('0\r\n\r\n'), dice);
  if (framing === 'close') {
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.end(resolve);
    });
  }
  return framing === 'length' || framing === 'chunked';
}

function framingOf(framing: Framing, size: number): string {
  if (framing === 'chunked') return 'Transfer-Encoding: chunked\r\n';
  return framing === 'close' ? 'Connection: close\r\n' : `Content-Length: ${size}\r\n`;
}

async function writeSplit(socket: Socket, bytes: Buffer, dice: Dice): Promise<void> {
  if (dice.chance(70)) return write(socket, bytes);
  const at = dice.roll(bytes.length);
  await write(socket, bytes.subarray(0, at));
  await nextTurn();
  await write(socket, bytes.subarray(at));
}

async function write(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.destroyed) throw new Error('gone');
  if (!socket.write(bytes)) await drained(socket);
}
