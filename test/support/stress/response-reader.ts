import { firstFault } from './pattern.js';
import type { Task } from './task.js';

/** Reads HTTP/1.1 responses to tasks and compares every byte of their bodies. */
export class ResponseReader {
  readonly #task: Task;
  readonly #fault: (text: string) => void;
  #bytes: Buffer = Buffer.alloc(0);
  #left = -1;
  #mode: 'head' | 'length' | 'chunk-size' | 'chunk' | 'close' | 'over' = 'head';
  #received = 0;

  constructor(task: Task, fault: (text: string) => void) {
    this.#task = task;
    this.#fault = fault;
  }

  get isOver(): boolean {
    return this.#mode === 'over';
  }

  /** A part of the body has come. */
  get hasBegun(): boolean {
    return this.#received > 0;
  }

  /** Answers what follows the response. */
  push(bytes: Buffer): Buffer {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#mode !== 'over' && this.#step());
    if (this.#mode !== 'over') return Buffer.alloc(0);
    const rest = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    return rest;
  }

  /** The connection ended in an orderly way. */
  end(): void {
    if (this.#mode === 'close') this.#complete();
    else if (this.#mode !== 'over' && this.#task.framing !== 'cut') {
      this.#fault(`${this.#task.target}: ended after ${this.#received} bytes`);
    }
  }

  #step(): boolean {
    switch (this.#mode) {
      case 'head':
        return this.#readHead();
      case 'chunk-size':
        return this.#readChunkSize();
      default:
        return this.#readBody();
    }
  }

  #readHead(): boolean {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = this.#bytes.toString('latin1', 0, end).toLowerCase();
    this.#bytes = this.#bytes.subarray(end + 4);
    if (head.startsWith('http/1.1 1')) return true;
    const { framing, target } = this.#task;
    // A response that was cut before its head was passed on is the gateway's to answer.
    const isExpected = framing === 'cut' ? /^http\/1\.1 (200|502)/ : /^http\/1\.1 200/;
    if (!isExpected.test(head)) this.#fault(`${target}: ${head.slice(0, 60)}`);
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
    if (!head.startsWith('http/1.1 200')) this.#skip = true;
    if (length !== undefined) this.#left = Number(length);
    if (head.includes('\r\ntransfer-encoding: chunked')) this.#mode = 'chunk-size';
    else this.#mode = length === undefined ? 'close' : 'length';
    if (this.#left === 0) this.#complete();
    return true;
  }
  #skip = false;

  #readChunkSize(): boolean {
    const end = this.#bytes.indexOf('\r\n');
    if (end < 0) return false;
    const size = Number.parseInt(this.#bytes.toString('latin1', 0, end), 16);
    if (size === 0) {
      if (this.#bytes.length < end + 4) return false;
      this.#bytes = this.#bytes.subarray(end + 4);
      this.#complete();
      return true;
    }
    this.#bytes = this.#bytes.subarray(end + 2);
    this.#left = size;
    this.#mode = 'chunk';
    return true;
  }

  #readBody(): boolean {
    if (this.#mode === 'chunk' && this.#left === 0) {
      if (this.#bytes.length < 2) return false;
      this.#bytes = this.#bytes.subarray(2);
      this.#mode = 'chunk-size';
      return true;
    }
    if (this.#bytes.length === 0) return false;
    const taken = this.#mode === 'close' ? this.#bytes : this.#bytes.subarray(0, this.#left);
    this.#bytes = this.#bytes.subarray(taken.length);
    this.#left -= taken.length;
    this.#compare(taken);
    if (this.#mode === 'length' && this.#left === 0) this.#complete();
    return true;
  }

  #compare(bytes: Buffer): void {
    if (this.#skip) return;
    const wrong = firstFault(bytes, this.#task.seed, this.#received);
    if (wrong >= 0) this.#fault(`${this.#task.target}: wrong byte at ${wrong}`);
    this.#received += bytes.length;
  }

  #complete(): void {
    this.#mode = 'over';
    const { target, size, framing } = this.#task;
    if (this.#skip) return;
    if (framing === 'cut') this.#fault(`${target}: a cut body looks complete`);
    else if (this.#received !== size) this.#fault(`${target}: ${this.#received} of ${size} bytes`);
  }
}
