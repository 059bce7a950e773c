import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import fc from 'fast-check';
import { CLIENT_HELLO_LIMIT, readClientHello } from '../../../../../src/engine/wire/tls/client-hello.js';

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);
const vector8 = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);
const vector16 = (bytes: Buffer): Buffer => Buffer.concat([u16(bytes.length), bytes]);
const text = (value: string): Buffer => Buffer.from(value, 'latin1');

function extension(type: number, body: Buffer): Buffer {
  return Buffer.concat([u16(type), vector16(body)]);
}

const serverName = (name: string): Buffer =>
  extension(0, vector16(Buffer.concat([Buffer.of(0), vector16(text(name))])));
const alpn = (...names: readonly string[]): Buffer =>
  extension(16, vector16(Buffer.concat(names.map((name) => vector8(text(name))))));

interface Parts {
  readonly extensions?: readonly Buffer[] | undefined;
  readonly sessionId?: Buffer;
  readonly ciphers?: Buffer;
  readonly compressions?: Buffer;
  readonly trailer?: Buffer;
}

function message(parts: Parts): Buffer {
  const {
    extensions,
    sessionId = Buffer.alloc(32),
    ciphers = u16(0x1301),
    compressions = Buffer.of(0),
  } = parts;
  const body = Buffer.concat([
    Buffer.of(3, 3),
    Buffer.alloc(32, 7),
    vector8(sessionId),
    vector16(ciphers),
    vector8(compressions),
    extensions === undefined ? Buffer.alloc(0) : vector16(Buffer.concat(extensions)),
    parts.trailer ?? Buffer.alloc(0),
  ]);
  return Buffer.concat([Buffer.of(1, body.length >> 16), u16(body.length & 0xffff), body]);
}

/** Puts a message into records of the given lengths, the last taking the rest. */
function records(bytes: Buffer, lengths: readonly number[] = []): Buffer {
  const out: Buffer[] = [];
  let rest = bytes;
  for (const length of [...lengths, bytes.length]) {
    if (rest.length === 0) break;
    out.push(Buffer.of(22, 3, 1), vector16(rest.subarray(0, length)));
    rest = rest.subarray(length);
  }
  return Buffer.concat(out);
}

function read(bytes: Buffer): ReturnType<typeof readClientHello> {
  return readClientHello(bytes, bytes.length);
}

const good = message({
  extensions: [extension(43, Buffer.of(2, 3, 4)), serverName('a.test'), alpn('h2', 'http/1.1')],
});
const wanted = { state: 'complete', serverName: 'a.test', alpn: ['h2', 'http/1.1'] };

describe('readClientHello', () => {
  const complete = [
    { name: 'all', bytes: records(good), want: wanted },
    {
      name: 'no extensions',
      bytes: records(message({})),
      want: { state: 'complete', serverName: '', alpn: [] },
    },
    {
      name: 'empty extensions',
      bytes: records(message({ extensions: [] })),
      want: { state: 'complete', serverName: '', alpn: [] },
    },
    {
      name: 'upper case and a trailing dot',
      bytes: records(message({ extensions: [serverName('A.Test.')] })),
      want: { state: 'complete', serverName: 'a.test', alpn: [] },
    },
    {
      name: 'an address as name',
      bytes: records(message({ extensions: [serverName('127.0.0.1')] })),
      want: { state: 'complete', serverName: '', alpn: [] },
    },
    { name: 'bytes behind it', bytes: Buffer.concat([records(good), text('anything')]), want: wanted },
  ];
  for (const { name, bytes, want } of complete) {
    it(`reads ${name}`, () => {
      expect(read(bytes)).to.deep.equal(want);
    });
  }

  const invalid = [
    { name: 'an HTTP request', bytes: text('GET / HTTP/1.1\r\n'), reason: 'not a TLS handshake record' },
    { name: 'an alert', bytes: Buffer.of(21), reason: 'not a TLS handshake record' },
    { name: 'SSL 2', bytes: Buffer.of(0x80, 0x2e, 1), reason: 'not a TLS handshake record' },
    { name: 'a wrong major version', bytes: Buffer.of(22, 2), reason: 'not a TLS version' },
    { name: 'a wrong minor version', bytes: Buffer.of(22, 3, 9), reason: 'not a TLS version' },
    { name: 'an empty record', bytes: Buffer.of(22, 3, 1, 0, 0), reason: 'bad record length' },
    { name: 'a huge record', bytes: Buffer.of(22, 3, 1, 0xff, 0xff), reason: 'bad record length' },
    { name: 'a ServerHello', bytes: records(Buffer.of(2, 0, 0, 0)), reason: 'not a ClientHello' },
    { name: 'a huge message', bytes: records(Buffer.of(1, 1, 0, 0)), reason: 'ClientHello too long' },
    { name: 'nothing in it', bytes: records(Buffer.of(1, 0, 0, 0)), reason: 'a length points past its end' },
    {
      name: 'a message of two records of which the second is no handshake',
      bytes: Buffer.concat([records(good.subarray(0, 20)), Buffer.of(23, 3, 3, 0, 1, 0)]),
      reason: 'not a TLS handshake record',
    },
    {
      name: 'a long session id',
      bytes: records(message({ sessionId: Buffer.alloc(33) })),
      reason: 'session id too long',
    },
    { name: 'no cipher', bytes: records(message({ ciphers: Buffer.alloc(0) })), reason: 'bad cipher suites' },
    {
      name: 'half a cipher',
      bytes: records(message({ ciphers: Buffer.alloc(3) })),
      reason: 'bad cipher suites',
    },
    {
      name: 'no compression',
      bytes: records(message({ compressions: Buffer.alloc(0) })),
      reason: 'no compression method',
    },
    {
      name: 'bytes after the extensions',
      bytes: records(message({ extensions: [], trailer: Buffer.of(1) })),
      reason: 'bytes after the extensions',
    },
    {
      name: 'a name twice',
      bytes: records(message({ extensions: [serverName('a'), serverName('b')] })),
      reason: 'an extension twice',
    },
    {
      name: 'a bad name',
      bytes: records(message({ extensions: [serverName('a..b')] })),
      reason: 'bad server name',
    },
    {
      name: 'an empty name',
      bytes: records(message({ extensions: [serverName('')] })),
      reason: 'bad server name',
    },
    {
      name: 'a NUL in the name',
      bytes: records(message({ extensions: [serverName('a\0b')] })),
      reason: 'bad server name',
    },
    {
      name: 'a name of another type',
      bytes: records(message({ extensions: [extension(0, vector16(Buffer.of(1, 0, 0)))] })),
      reason: 'server name is no host name',
    },
    {
      name: 'two names in a list',
      bytes: records(message({ extensions: [extension(0, vector16(Buffer.of(0, 0, 1, 97, 0, 0, 1, 98)))] })),
      reason: 'bytes left over',
    },
    {
      name: 'an empty ALPN list',
      bytes: records(message({ extensions: [alpn()] })),
      reason: 'empty ALPN list',
    },
    {
      name: 'an empty ALPN name',
      bytes: records(message({ extensions: [alpn('')] })),
      reason: 'empty ALPN protocol',
    },
    {
      name: 'an extension past the end',
      bytes: records(message({ extensions: [Buffer.of(0, 0, 0, 9)] })),
      reason: 'a length points past its end',
    },
  ];
  for (const { name, bytes, reason } of invalid) {
    it(`refuses ${name}`, () => {
      expect(read(bytes)).to.deep.equal({ state: 'invalid', reason });
    });
  }

  it('wants more of every beginning, however it is cut into records, and then reads the same', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(lengths, (cuts) => {
        const bytes = records(good, cuts);
        for (let length = 0; length < bytes.length; length++) {
          if (readClientHello(bytes, length).state !== 'more') return false;
        }
        expect(read(bytes)).to.deep.equal(wanted);
        return true;
      }),
      { numRuns: 30 },
    );
  });

  it('never throws and is never confused by what follows, whatever the bytes are', () => {
    const mutated = fc
      .record({ at: fc.nat(good.length + 4), value: fc.nat(255), tail: fc.uint8Array({ maxLength: 20 }) })
      .map(({ at, value, tail }) => {
        const bytes = Buffer.concat([records(good), tail]);
        bytes[at] = value;
        return bytes;
      });
    const anything = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(mutated, anything), (bytes) => {
        const result = read(bytes);
        // What is decided stays decided when more bytes come.
        if (result.state !== 'more') {
          expect(read(Buffer.concat([bytes, Buffer.alloc(50)]))).to.deep.equal(result);
        }
      }),
    );
  });

  it('refuses what is longer than its limit before it has read it', () => {
    const long = message({ extensions: [extension(21, Buffer.alloc(CLIENT_HELLO_LIMIT))] });
    expect(read(records(long, [10]).subarray(0, 60)).state).to.equal('invalid');
    const fits = message({
      extensions: [extension(21, Buffer.alloc(CLIENT_HELLO_LIMIT - 200)), serverName('x.test')],
    });
    expect(read(records(fits))).to.deep.equal({ state: 'complete', serverName: 'x.test', alpn: [] });
    expect(
      read(
        records(
          fits,
          Array.from({ length: 2_000 }, () => 7),
        ),
      ).state,
    ).to.equal('invalid');
  });

  it("reads what Node's own client sends", async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      servername: 'shop.example.com',
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    client.on('error', () => undefined);
    const [socket] = (await once(server, 'connection')) as [Socket];
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    client.destroy();
    socket.destroy();
    server.close();
    expect(read(bytes)).to.deep.equal({
      state: 'complete',
      serverName: 'shop.example.com',
      alpn: ['h2', 'http/1.1'],
    });
  });
});
