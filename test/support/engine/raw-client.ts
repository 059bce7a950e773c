import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** As received, without the empty line. */
  readonly head: string;
  readonly body: string;
  /** The value of a field, or undefined. */
  field(name: string): string | undefined;
  /** Every value. */
  fields(name: string): string[];
}

/** A client that writes and reads bytes: it repairs nothing and hides nothing. */
export class RawClient {
  readonly socket: Socket;
  received = Buffer.alloc(0);
  /** The gateway sent FIN. */
  ended = false;
  /** Code of the error that ended the connection (`ECONNRESET`). */
  error: string | undefined;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
      this.#wake?.();
    });
    socket.on('end', () => {
      this.ended = true;
      this.#wake?.();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code;
    });
    socket.on('close', () => {
      this.ended = true;
      this.#wake?.();
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    socket.setNoDelay(true);
    return new RawClient(socket);
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    return this;
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  /** Waits until the condition holds or nothing more can come. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
  }

  /** Waits for the gateway to close. */
  async closed(): Promise<void> {
    await this.until(() => this.ended);
  }

  /** Takes the next response off; `isHead`: it has no body. */
  async response(isHead = false): Promise<RawResponse> {
    await this.until(() => this.text.includes('\r\n\r\n'));
    const end = this.text.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no response: ${JSON.stringify(this.text)} ${this.error ?? ''}`);
    const head = this.text.slice(0, end);
    this.received = this.received.subarray(end + 4);
    const status = Number(head.slice(9, 12));
    const fields = (name: string): string[] =>
      [...head.matchAll(new RegExp(`^${name}: *(.*)$`, 'gim'))].map((match) => match[1]!.trim());
    const field = (name: string): string | undefined => fields(name)[0];
    const body = isHead || status < 200 || status === 204 || status === 304 ? '' : await this.#body(field);
    return { status, head, body, field, fields };
  }

  /** One request on this connection. */
  async get(path: string, host = 'app.test', extra = ''): Promise<RawResponse> {
    return this.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${extra}\r\n`).response();
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #body(field: (name: string) => string | undefined): Promise<string> {
    const length = field('content-length');
    if (length !== undefined) {
      await this.until(() => this.received.length >= Number(length));
      return this.#take(Number(length));
    }
    if (field('transfer-encoding') === 'chunked') return this.#chunks();
    await this.closed();
    return this.#take(this.received.length);
  }

  async #chunks(): Promise<string> {
    let body = '';
    for (;;) {
      await this.until(() => this.text.includes('\r\n'));
      const line = this.text.indexOf('\r\n');
      if (line < 0) throw new Error('the chunked body has no end');
      const size = Number.parseInt(this.#take(line + 2), 16);
      if (size === 0) {
        await this.until(() => this.text.startsWith('\r\n') || this.text.includes('\r\n\r\n'));
        this.trailers = this.#take(this.text.startsWith('\r\n') ? 2 : this.text.indexOf('\r\n\r\n') + 4);
        return body;
      }
      await this.until(() => this.received.length >= size + 2);
      if (this.received.length < size + 2) throw new Error('the chunked body is truncated');
      body += this.#take(size + 2).slice(0, -2);
    }
  }

  trailers = '';

  #take(length: number): string {
    const taken = this.received.toString('latin1', 0, length);
    this.received = this.received.subarray(length);
    return taken;
  }
}
