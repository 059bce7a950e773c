import { createSecureContext } from 'node:tls';
import { expect } from 'chai';
import { TrustedProxies } from '../../../../src/engine/exchange/connection-context.js';
import type { DownstreamContext } from '../../../../src/engine/exchange/downstream.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import { StreamDestination } from '../../../../src/engine/l4/stream-destination.js';
import {
  ConnectionAcceptor,
  type ListenerRuntime,
  type TlsServer,
} from '../../../../src/engine/listeners/connection-acceptor.js';
import { HostTable } from '../../../../src/engine/routing/host-table.js';
import { CLIENT_HELLO_LIMIT } from '../../../../src/engine/wire/tls/client-hello.js';
import { HandshakeGate } from '../../../../src/engine/wire/tls/handshake-gate.js';
import type {
  Connection,
  ConnectionHandler,
  ServerTlsOptions,
  WriteOutcome,
} from '../../../../src/engine/wire/wire.js';
import {
  DEFAULT_LISTENER_SETTINGS,
  type ListenerSettings,
  type Server,
} from '../../../../src/ir/listener.js';

const KEY = 'tcp/[::]:443';

class FakeConnection implements Connection {
  handler!: ConnectionHandler;
  readonly remoteAddress = '192.0.2.1';
  readonly remotePort = 1111;
  readonly localAddress = '192.0.2.2';
  readonly localPort = 443;
  alpn = '';
  destroyed = false;
  secured: { readonly options: ServerTlsOptions; readonly received: string } | undefined;

  peerCertificate(): undefined {
    return undefined;
  }

  tlsSession(): undefined {
    return undefined;
  }

  readInto(): void {
    // Tests hand bytes over themselves.
  }

  resume(): void {
    // Nothing flows.
  }

  pause(): void {
    // Nothing flows.
  }

  writeConstant(): WriteOutcome {
    return this.write();
  }

  write(): WriteOutcome {
    throw new Error('nothing is written before a protocol is chosen');
  }

  end(): void {
    throw new Error('nothing is ended in order before a protocol is chosen');
  }

  close(): void {
    this.end();
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    // Without a handler nobody hears of it.
    (this.handler as ConnectionHandler | undefined)?.onClose(undefined);
  }

  reset(): void {
    this.destroy();
  }

  secure(options: ServerTlsOptions, received: Buffer): void {
    this.secured = { options, received: received.toString('latin1') };
  }

  gives(bytes: Buffer): void {
    this.handler.onRead(bytes, bytes.length);
  }
}

/** Notes what becomes of connections. */
class Lab {
  readonly heard: string[] = [];
  active = 0;
  nowMs = 0;
  context: DownstreamContext | undefined;
  readonly wheel = new TimerWheel(5, () => this.nowMs);
  readonly acceptor: ConnectionAcceptor;

  constructor(runtime: ListenerRuntime | undefined) {
    const count = (what: string) => (): void => {
      this.heard.push(what);
    };
    const serve =
      (what: string) =>
      (_connection: Connection, context: DownstreamContext, received: Buffer): void => {
        this.context = context;
        this.heard.push(`${what} ${received.toString('latin1')}`.trim());
      };
    this.acceptor = new ConnectionAcceptor({
      runtime: () => runtime,
      servers: { http1: serve('http1'), http2: serve('http2') },
      streams: {
        relay: (_connection, listener, destination, received) => {
          this.heard.push(`relay ${listener} ${destination?.next() ?? '-'} ${received.length}`);
        },
      },
      counts: {
        opened: count('opened'),
        closed: count('closed'),
        refused: count('refused'),
        handshakeFailed: count('handshake failed'),
        active: () => this.active,
      },
      handshakes: new HandshakeGate(),
      wheel: this.wheel,
    });
  }

  accept(): FakeConnection {
    const connection = new FakeConnection();
    this.acceptor.accept(KEY, connection);
    return connection;
  }
}

interface Given {
  readonly protocol?: ListenerRuntime['listener']['protocol'];
  readonly settings?: Partial<ListenerSettings>;
  readonly stream?: StreamDestination;
  readonly tls?: readonly TlsServer[];
}

function runtimeOf({ protocol = 'http', settings = {}, stream, tls = [] }: Given): ListenerRuntime {
  const all = { ...DEFAULT_LISTENER_SETTINGS, ...settings };
  return {
    listener: { key: KEY, address: '::', port: 443, transport: 'tcp', protocol, servers: [], settings: all },
    trusted: new TrustedProxies(all.trustedProxies),
    tlsServers: new HostTable(tls.map((one) => [one.server.hostname, one] as const)),
    stream,
  };
}

const destination = new StreamDestination({
  type: 'stream',
  backends: [{ upstream: 'db', weight: 1, filters: [] }],
});
const options = { context: createSecureContext(), alpn: ['h2'], clientCertificate: 'none' } as const;

function tlsServer(hostname: string, rest: Partial<TlsServer> & { readonly ends?: boolean }): TlsServer {
  const server: Server = {
    hostname,
    listeners: [],
    application: { type: 'http', virtualHosts: [] },
    ...(rest.ends === true ? { tls: { certificates: ['Secret/ns/a'] } } : {}),
  };
  return { server, tls: rest.tls, stream: rest.stream };
}

function clientHello(name: string): Buffer {
  const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);
  const vector16 = (...parts: Buffer[]): Buffer => {
    const bytes = Buffer.concat(parts);
    return Buffer.concat([u16(bytes.length), bytes]);
  };
  const serverName = vector16(Buffer.of(0), vector16(Buffer.from(name)));
  const body = Buffer.concat([
    Buffer.of(3, 3),
    Buffer.alloc(32, 7),
    // No session, one cipher suite, no compression.
    Buffer.of(0, 0, 2, 0x13, 1, 1, 0),
    vector16(u16(0), vector16(serverName)),
  ]);
  return Buffer.concat([Buffer.of(22, 3, 1), vector16(Buffer.of(1, 0), vector16(body))]);
}

const hello = clientHello('a.test');

describe('accepted connections', () => {
  it('of a listener that is gone are closed', () => {
    const lab = new Lab(undefined);
    expect(lab.accept().destroyed).to.equal(true);
    expect(lab.heard).to.deep.equal([]);
  });

  it('are refused above the limit only', () => {
    const lab = new Lab(runtimeOf({ settings: { connectionsLimit: 2 } }));
    lab.active = 1;
    expect(lab.accept().destroyed).to.equal(false);
    lab.active = 2;
    expect(lab.accept().destroyed).to.equal(true);
    expect(lab.heard).to.deep.equal(['http1', 'refused']);
  });

  it('of a tcp listener are relayed', () => {
    const lab = new Lab(runtimeOf({ protocol: 'tcp', stream: destination }));
    lab.accept();
    expect(lab.heard).to.deep.equal([`relay ${KEY} db 0`]);
  });

  describe('with a PROXY header', () => {
    const settings = { proxyProtocol: true, trustedProxies: ['192.0.2.1/32'] };

    for (const [title, text, remote] of [
      ['that names the client', 'PROXY TCP4 198.51.100.7 198.51.100.8 7 80\r\n', '198.51.100.7:7'],
      ['that names nobody', 'PROXY UNKNOWN\r\n', '192.0.2.1:1111'],
    ] as const) {
      it(title, () => {
        const lab = new Lab(runtimeOf({ settings }));
        lab.accept().gives(Buffer.from(`${text}GET`));
        expect(lab.heard).to.deep.equal(['http1 GET']);
        expect(`${lab.context?.remoteAddress}:${lab.context?.remotePort}`).to.equal(remote);
        // Whether a proxy is trusted is a matter of who sent the bytes.
        expect(lab.context?.trusted).to.equal(true);
      });
    }

    it('that is none: refused', () => {
      const lab = new Lab(runtimeOf({ settings }));
      const connection = lab.accept();
      connection.gives(Buffer.from('GET / HTTP/1.1\r\n'));
      expect(connection.destroyed).to.equal(true);
      expect(lab.heard).to.deep.equal(['refused']);
    });

    it('before a ClientHello', () => {
      const lab = new Lab(
        runtimeOf({ protocol: 'tls', settings, tls: [tlsServer('a.test', { tls: options, ends: true })] }),
      );
      const connection = lab.accept();
      connection.gives(Buffer.concat([Buffer.from('PROXY UNKNOWN\r\n'), hello]));
      expect(connection.secured?.received).to.equal(hello.toString('latin1'));
    });
  });

  describe('of a tls listener', () => {
    const both = [
      tlsServer('a.test', { tls: options, ends: true }),
      tlsServer('db.test', { tls: options, stream: destination, ends: true }),
      tlsServer('pass.test', { stream: destination }),
      tlsServer('broken.test', { stream: destination, ends: true }),
    ];

    for (const [alpn, want] of [
      ['h2', 'http2'],
      ['', 'http1'],
    ] as const) {
      it(`are served by ${want} after the handshake`, () => {
        const lab = new Lab(runtimeOf({ protocol: 'tls', tls: both }));
        const connection = lab.accept();
        connection.gives(hello.subarray(0, 20));
        expect(connection.secured).to.equal(undefined);
        connection.gives(hello.subarray(20));
        expect(connection.secured?.options.alpn).to.deep.equal(['h2']);
        connection.gives(Buffer.from('late bytes are not ours'));
        connection.alpn = alpn;
        connection.handler.onSecure();
        expect(lab.heard).to.deep.equal([want]);
        expect(lab.context).to.include({ secure: true, sniServer: 'a.test' });
      });
    }

    it('are closed when the handshake takes too long', () => {
      const lab = new Lab(runtimeOf({ protocol: 'tls', tls: both }));
      const connection = lab.accept();
      connection.gives(hello);
      lab.nowMs = 9_900;
      lab.wheel.advance();
      expect(connection.destroyed).to.equal(false);
      lab.nowMs = 10_100;
      lab.wheel.advance();
      expect(connection.destroyed).to.equal(true);
      expect(lab.heard).to.deep.equal(['handshake failed']);
    });

    it('have time after the handshake', () => {
      const lab = new Lab(runtimeOf({ protocol: 'tls', tls: both }));
      const connection = lab.accept();
      connection.gives(hello);
      connection.handler.onSecure();
      lab.nowMs = 20_000;
      lab.wheel.advance();
      expect(connection.destroyed).to.equal(false);
    });

    it('are relayed after the handshake', () => {
      const lab = new Lab(runtimeOf({ protocol: 'tls', tls: both }));
      const connection = lab.accept();
      connection.gives(clientHello('db.test'));
      connection.handler.onSecure();
      expect(lab.heard).to.deep.equal([`relay ${KEY} db 0`]);
    });

    it('are passed through with their ClientHello', () => {
      const lab = new Lab(runtimeOf({ protocol: 'tls', tls: both }));
      const connection = lab.accept();
      const greeting = clientHello('pass.test');
      connection.gives(greeting);
      expect(lab.heard).to.deep.equal([`relay ${KEY} db ${greeting.length}`]);
      // The relay has its own handler in earnest; a close that still comes here is no failed handshake.
      connection.handler.onClose(undefined);
      expect(lab.heard).to.have.length(1);
    });

    for (const [title, act] of [
      [
        'for no server',
        (one: FakeConnection) => {
          one.gives(clientHello('other.test'));
        },
      ],
      [
        'for a server whose certificates cannot be used',
        (one: FakeConnection) => {
          one.gives(clientHello('broken.test'));
        },
      ],
      [
        'that speak no TLS',
        (one: FakeConnection) => {
          one.gives(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
        },
      ],
      [
        'whose ClientHello has no end',
        (one: FakeConnection) => {
          one.gives(endless());
        },
      ],
      [
        'that end while greeting',
        (one: FakeConnection) => {
          one.handler.onEnd();
        },
      ],
      [
        'that close while greeting',
        (one: FakeConnection) => {
          one.destroy();
        },
      ],
    ] as const) {
      it(`${title} are closed and counted once`, () => {
        const lab = new Lab(runtimeOf({ protocol: 'tls', tls: both }));
        const connection = lab.accept();
        act(connection);
        expect(connection.destroyed).to.equal(true);
        expect(lab.heard).to.deep.equal(['handshake failed']);
      });
    }

    it('that do not greet in time are closed', () => {
      const lab = new Lab(runtimeOf({ protocol: 'tls', settings: { readHeaderTimeoutMs: 50 }, tls: both }));
      const connection = lab.accept();
      lab.nowMs = 40;
      lab.wheel.advance();
      expect(connection.destroyed).to.equal(false);
      lab.nowMs = 80;
      lab.wheel.advance();
      expect(connection.destroyed).to.equal(true);
      expect(lab.heard).to.deep.equal(['handshake failed']);
    });
  });
});

/** A record that says it goes on, as long as the limit. */
function endless(): Buffer {
  const bytes = Buffer.alloc(CLIENT_HELLO_LIMIT);
  Buffer.of(22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc).copy(bytes);
  return bytes;
}
