import { randomBytes } from 'node:crypto';
import { issueCertificate } from '../../util/issue-certificate.js';
import { createClientContext, createServerContext, TICKET_KEY_BYTES } from './tls/secure-contexts.js';
import {
  FAILED,
  PENDING,
  type ClientTlsOptions,
  type Connection,
  type ConnectionHandler,
  type ServerTlsOptions,
  type Wire,
  type WireError,
} from './wire.js';

const SIZE = 1024 * 1024;
const PIECE = 64 * 1024;
const HOUR = 3_600_000;

/**
 * Why this wire must not be used on this Node, or `undefined`. Echoes a megabyte over a loopback pair, in clear text
 * and over TLS: the reader is slow at first, so that writes become partial; then both sides half-close.
 */
export async function testWire(wire: Wire, timeoutMs: number): Promise<string | undefined> {
  const tls = tlsOptions();
  return (await echo(wire, timeoutMs, undefined)) ?? (await echo(wire, timeoutMs, tls));
}

interface TlsPair {
  readonly server: ServerTlsOptions;
  readonly client: ClientTlsOptions;
}

async function echo(wire: Wire, timeoutMs: number, tls: TlsPair | undefined): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const what = tls === undefined ? 'TCP' : 'TLS';
  const timer = setTimeout(() => {
    resolve(`${what} echo was not done within ${timeoutMs} ms`);
  }, timeoutMs);
  const open: Connection[] = [];
  const acceptor = await wire.listen({
    address: '127.0.0.1',
    port: 0,
    backlog: 8,
    reusePort: false,
    accept: (connection) => {
      open.push(connection);
      connection.handler = new Echo(connection);
      connection.readInto(Buffer.allocUnsafeSlow(PIECE));
      if (tls === undefined) connection.resume();
      else connection.secure(tls.server, Buffer.alloc(0));
    },
  });
  const sender = new Sender((verdict) => {
    resolve(verdict === undefined ? undefined : `${what} ${verdict}`);
  });
  const { address, port } = acceptor;
  const connection = wire.connect(
    { address, port, timeoutMs, ...(tls === undefined ? {} : { tls: tls.client }) },
    sender,
  );
  open.push(connection);
  sender.start(connection);
  const verdict = await promise;
  clearTimeout(timer);
  for (const each of open) each.destroy();
  await acceptor.close();
  return verdict;
}

/** Sends back what comes, pausing while its own writes wait. */
class Echo implements ConnectionHandler {
  readonly #connection: Connection;
  #ended = false;
  #waiting = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  onConnect(): void {
    // Accepted, not connected.
  }

  onSecure(): void {
    this.#connection.resume();
  }

  onRead(buffer: Buffer, length: number): void {
    if (this.#connection.write(Buffer.from(buffer.subarray(0, length))) !== PENDING) return;
    this.#waiting = true;
    this.#connection.pause();
  }

  onEnd(): void {
    this.#ended = true;
    if (!this.#waiting) this.#connection.end();
  }

  onDrain(): void {
    this.#waiting = false;
    if (this.#ended) this.#connection.end();
    else this.#connection.resume();
  }

  onClose(): void {
    // The sender tells whether everything came back.
  }
}

/** Sends everything at once, reads only when the kernel takes no more, and compares. */
class Sender implements ConnectionHandler {
  readonly #done: (verdict: string | undefined) => void;
  readonly #bytes = randomBytes(SIZE);
  #connection: Connection | undefined;
  #received = 0;
  #wrong = false;

  constructor(done: (verdict: string | undefined) => void) {
    this.#done = done;
  }

  start(connection: Connection): void {
    this.#connection = connection;
    connection.readInto(Buffer.allocUnsafeSlow(PIECE));
  }

  onConnect(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    const bytes = this.#bytes;
    for (let offset = 0; offset < SIZE; offset += 2 * PIECE) {
      const middle = offset + PIECE;
      const end = middle + PIECE;
      // Every other time as two.
      const outcome =
        offset % (4 * PIECE) === 0
          ? connection.write(bytes.subarray(offset, middle), bytes.subarray(middle, end))
          : connection.write(bytes.subarray(offset, end));
      if (outcome === FAILED) return;
    }
    connection.end();
    connection.resume();
  }

  onSecure(): void {
    // Told by onConnect.
  }

  onRead(buffer: Buffer, length: number): void {
    const expected = this.#bytes.subarray(this.#received, this.#received + length);
    this.#wrong ||= !buffer.subarray(0, length).equals(expected);
    this.#received += length;
  }

  onEnd(): void {
    // Both sides have ended: onClose follows.
  }

  onDrain(): void {
    // Everything was written at once.
  }

  onClose(error: WireError | undefined): void {
    if (error !== undefined) this.#done(`echo failed: ${error.code} ${error.message}`);
    else if (this.#wrong) this.#done('echo brought wrong bytes');
    else if (this.#received !== SIZE) this.#done(`echo brought ${this.#received} of ${SIZE} bytes`);
    else this.#done(undefined);
  }
}

function tlsOptions(): TlsPair {
  const now = Date.now();
  const { certificate, privateKey } = issueCertificate({
    commonName: 'self-test',
    dnsNames: ['self-test.invalid'],
    usage: 'server',
    notBefore: new Date(now - HOUR),
    notAfter: new Date(now + HOUR),
  });
  const ticketKeys = randomBytes(TICKET_KEY_BYTES);
  return {
    server: {
      context: createServerContext({ keyPairs: [{ chain: certificate, privateKey }], ticketKeys }),
      alpn: ['http/1.1'],
      clientCertificate: 'none',
    },
    client: {
      context: createClientContext({ ca: certificate }),
      serverName: 'self-test.invalid',
      alpn: ['http/1.1'],
      sessionKey: 'self-test',
    },
  };
}
