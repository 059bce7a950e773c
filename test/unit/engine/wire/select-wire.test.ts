import { expect } from 'chai';
import { HandleWire } from '../../../../src/engine/wire/handle-wire.js';
import { NetWire } from '../../../../src/engine/wire/net-wire.js';
import { findBindings } from '../../../../src/engine/wire/handle-bindings.js';
import { createWire, selectWire } from '../../../../src/engine/wire/select-wire.js';
import { testWire } from '../../../../src/engine/wire/self-test.js';
import type {
  Connection,
  ConnectionHandler,
  ConnectOptions,
  ListenOptions,
  Wire,
} from '../../../../src/engine/wire/wire.js';
import { messageOf, OperatorError } from '../../../../src/util/errors.js';
import type { Logger } from '../../../../src/telemetry/logger.js';
import { pino } from 'pino';

interface Line {
  readonly msg: string;
  readonly level: number;
  readonly reason?: string;
}

function recorder(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  return { logger, lines };
}

/** A wire that spoils something for the other side. */
class Broken implements Wire {
  readonly name = 'handle';
  readonly #inner = new NetWire(() => undefined);
  readonly #spoil: (connection: Connection) => Partial<ConnectionHandler>;

  constructor(spoil: (connection: Connection) => Partial<ConnectionHandler>) {
    this.#spoil = spoil;
  }

  listen(options: ListenOptions): ReturnType<Wire['listen']> {
    return this.#inner.listen({
      ...options,
      accept: (connection) => {
        options.accept(connection);
        Object.assign(connection.handler, this.#spoil(connection));
      },
    });
  }

  connect(options: ConnectOptions, handler: ConnectionHandler): Connection {
    return this.#inner.connect(options, handler);
  }
}

describe('selectWire', () => {
  it('chooses handle when it passes its self-test, and says nothing', async () => {
    const { logger, lines } = recorder();
    expect((await selectWire('auto', logger)).name).to.equal('handle');
    expect((await selectWire('handle', logger)).name).to.equal('handle');
    expect(lines).to.deep.equal([]);
  });

  it('chooses net when asked to', async () => {
    const { logger } = recorder();
    expect(await selectWire('net', logger)).to.be.instanceOf(NetWire);
    expect(createWire('net', logger)).to.be.instanceOf(NetWire);
    expect(createWire('handle', logger)).to.be.instanceOf(HandleWire);
  });

  it('passes the net wire, too', async () => {
    expect(await testWire(new NetWire(() => undefined), 2_000)).to.equal(undefined);
  });

  const broken: readonly {
    name: string;
    spoil: (connection: Connection) => Partial<ConnectionHandler>;
    reason: RegExp;
  }[] = [
    {
      name: 'wrong bytes',
      spoil: (connection) => ({
        onRead: (buffer, length) => {
          connection.write(Buffer.alloc(length, buffer[0]));
        },
      }),
      reason: /^TCP echo brought wrong bytes$/,
    },
    {
      name: 'lost bytes',
      spoil: () => ({ onRead: () => undefined }),
      reason: /^TCP echo brought 0 of 1048576 bytes$/,
    },
    {
      name: 'a reset',
      spoil: (connection) => ({
        onRead: () => {
          connection.reset();
        },
      }),
      reason: /^TCP echo failed: (ECONNRESET|EPIPE) /,
    },
    {
      name: 'no end',
      spoil: () => ({ onEnd: () => undefined }),
      reason: /^TCP echo was not done within 200 ms$/,
    },
  ];
  for (const { name, spoil, reason } of broken) {
    it(`finds ${name}`, async () => {
      expect(await testWire(new Broken(spoil), 200)).to.match(reason);
    });
  }

  it('serves with net when handle fails, and says why in one line', async () => {
    const { logger, lines } = recorder();
    const wire = await selectWire('auto', logger, () => new Broken(() => ({ onRead: () => undefined })));
    expect(wire.name).to.equal('net');
    expect(lines.map(({ msg, level, reason }) => ({ msg, level, reason }))).to.deep.equal([
      {
        msg: 'handle wire unusable, serving with the net wire',
        level: 40,
        reason: 'TCP echo brought 0 of 1048576 bytes',
      },
    ]);
  });

  it('refuses when handle was asked for by name and cannot be made', async () => {
    const { logger } = recorder();
    const error = await selectWire('handle', logger, () => {
      findBindings(undefined);
      return new NetWire(() => undefined);
    }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(OperatorError).with.property('code', 'ERR_WIRE_UNAVAILABLE');
    expect(messageOf(error)).to.contain('process.binding is gone');
  });

  it('logs faults', async () => {
    const { logger, lines } = recorder();
    const wire = createWire('net', logger);
    const acceptor = await wire.listen({
      address: '127.0.0.1',
      port: 0,
      backlog: 1,
      reusePort: false,
      accept: () => {
        throw new Error('bug');
      },
    });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const nothing = (): void => undefined;
    const done = (): void => {
      resolve(undefined);
    };
    const client = wire.connect(
      { address: '127.0.0.1', port: acceptor.port, timeoutMs: 1_000 },
      {
        onConnect: nothing,
        onSecure: nothing,
        onRead: nothing,
        onEnd: done,
        onDrain: nothing,
        onClose: done,
      },
    );
    client.readInto(Buffer.alloc(1));
    client.resume();
    await promise;
    client.destroy();
    await acceptor.close();
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['wire fault']);
  });
});

describe('findBindings', () => {
  const prototypeOf = (...names: readonly string[]): unknown => {
    const constructor = function (): void {
      // Only its prototype is looked at.
    };
    for (const name of names) Reflect.set(constructor.prototype as object, name, () => 0);
    return constructor;
  };
  const cases: readonly { name: string; get: unknown; reason: string }[] = [
    { name: 'process.binding', get: undefined, reason: 'process.binding is gone' },
    { name: 'a module', get: () => undefined, reason: "process.binding('tcp_wrap') gives no object" },
    {
      name: 'permission',
      get: () => {
        throw new Error('denied');
      },
      reason: "process.binding('tcp_wrap'): denied",
    },
    { name: 'constants', get: () => ({}), reason: 'constants is missing' },
    { name: 'TCP', get: () => ({ constants: {} }), reason: 'TCP is missing' },
    {
      name: 'methods',
      get: () => ({ constants: {}, TCP: prototypeOf('readStart', 'readStop'), TLSWrap: prototypeOf() }),
      reason: 'lacks useUserBuffer, writeBuffer, writev, shutdown',
    },
  ];
  for (const { name, get, reason } of cases) {
    it(`says that ${name} is missing`, () => {
      expect(() => findBindings(get)).to.throw(reason);
    });
  }
});
