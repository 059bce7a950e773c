/**
 * `make bench-engine`: what the JavaScript of one request takes, without a kernel: a data plane whose sockets are
 * objects, 64 clients with HTTP/1.1, 1 KB bodies. Prints the best of nine rounds in ns, and the median.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DataPlane } from '../../src/engine/data-plane/data-plane.js';
import { type Connection, type Wire, type WriteOutcome, WRITTEN } from '../../src/engine/wire/wire.js';
import { configurationDelta } from '../../src/engine/workers/configuration-delta.js';
import { inlineMore } from '../../src/engine/workers/inlining.js';
import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../../src/ir/proxy-configuration.js';
import { createLogger } from '../../src/telemetry/logger.js';
import { TrafficCounters } from '../../src/telemetry/traffic-counters.js';
import { CACHING_POLICY } from '../../test/support/engine/cache-harness.js';
import { FakeConnection } from '../../test/support/engine/fake-connection.js';
import { keyOfPort, simpleConfiguration } from '../../test/support/engine/simple-configuration.js';

const PORT = 8080;
const CLIENTS = 64;
const ROUNDS = 9;
const TURNS_PER_ROUND = 5_000;
const RESPONSE = Buffer.from(
  'HTTP/1.1 200 OK\r\nServer: origin\r\nDate: Sun, 29 Nov 2026 10:00:00 GMT\r\nContent-Type: text/plain\r\n' +
    'Content-Length: 1024\r\nCache-Control: public, max-age=31536000\r\nETag: "abc-1024"\r\n' +
    'Last-Modified: Sun, 29 Nov 2020 10:00:00 GMT\r\nVary: Accept-Encoding\r\n' +
    `X-Request-Id: 0123456789abcdef0123456789abcdef\r\n\r\n${'a'.repeat(1024)}`,
  'latin1',
);

/** Takes everything, keeps nothing. */
class Socket extends FakeConnection {
  /** What the last write asked or answered. */
  last: Buffer | undefined = undefined;
  readonly #onWrite: ((socket: Socket) => void) | undefined;
  #landing: Buffer = Buffer.alloc(0);

  constructor(onWrite?: (socket: Socket) => void) {
    super();
    this.#onWrite = onWrite;
  }

  override readInto(buffer: Buffer): void {
    this.#landing = buffer;
  }

  override resume(): void {
    // Bytes come when the bench wants it.
  }

  override pause(): void {
    // Likewise.
  }

  override write(bytes: Buffer): WriteOutcome {
    this.last = bytes;
    this.#onWrite?.(this);
    return WRITTEN;
  }

  deliver(bytes: Buffer): void {
    bytes.copy(this.#landing);
    this.handler.onRead(this.#landing, bytes.length);
  }
}

/** Backends that were asked and have not answered yet. */
const asked: Socket[] = [];

function answerAll(): void {
  for (let socket = asked.pop(); socket; socket = asked.pop()) socket.deliver(RESPONSE);
}

function configuration(): ProxyConfiguration {
  const base = simpleConfiguration({ port: PORT, origins: [{ address: '127.0.0.1', port: 1 }] });
  const [route] = base.routes;
  const [rule] = route?.rules ?? [];
  if (!route || !rule) throw new Error('the simple configuration has a rule');
  const prefix = (value: string) => ({ path: { type: 'prefix' as const, value }, queryParams: [] });
  const rules = [
    {
      ...rule,
      matches: [
        { ...prefix('/filtered'), headers: [{ name: 'x-bench', type: 'exact' as const, value: 'yes' }] },
      ],
      filters: [
        {
          type: 'request-headers' as const,
          set: [{ name: 'x-team', value: 'blue' }],
          add: [],
          remove: ['x-bench'],
        },
        {
          type: 'response-headers' as const,
          set: [],
          add: [{ name: 'x-served-by', value: 'bench' }],
          remove: [],
        },
      ],
      retry: { codes: [503], attempts: 2, backoffMs: 10 },
    },
    { ...rule, index: 1, matches: [{ ...prefix('/cached'), headers: [] }], policy: CACHING_POLICY.key },
    { ...rule, index: 2 },
  ];
  return { ...base, policies: [CACHING_POLICY], routes: [{ ...route, rules }] };
}

/** A data plane that serves the configuration; answers what makes it accept a connection. */
async function serve(): Promise<(connection: Connection) => void> {
  let accept: ((connection: Connection) => void) | undefined;
  const wire: Wire = {
    name: 'handle',
    listen: (options) => {
      ({ accept } = options);
      return Promise.resolve({ address: options.address, port: PORT, close: () => Promise.resolve() });
    },
    connect: (_options, handler) => {
      const socket = new Socket((one) => asked.push(one));
      socket.handler = handler;
      setImmediate(() => {
        handler.onConnect();
      });
      return socket;
    },
  };
  const plane = new DataPlane({
    wire,
    options: {
      wire: 'handle',
      logLevel: 'silent',
      reusePort: false,
      caches: { default: { maxSizeBytes: 100_000_000, maxObjectSizeBytes: 1_000_000 } },
      negativeCaches: {},
      accessLog: { enabled: false, format: 'json', sampleRate: 1 },
      ticketKeys: '00'.repeat(48),
      sessionKey: '00'.repeat(32),
    },
    counters: new TrafficCounters(),
    logger: createLogger('silent'),
  });
  plane.prepare(1, configurationDelta(EMPTY_CONFIGURATION, configuration()), [[keyOfPort(PORT), 0]]);
  await plane.commit(1);
  if (!accept) throw new Error('nothing listens');
  return accept;
}

/** Clients that were answered once, each over a connection to the backend that will be used again. */
async function connect(accept: (connection: Connection) => void, request: Buffer): Promise<Socket[]> {
  const clients = Array.from({ length: CLIENTS }, () => new Socket());
  for (const client of clients) {
    accept(client);
    client.deliver(request);
    // Connected, asked, answered.
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      answerAll();
    }
  }
  return clients;
}

/** Nanoseconds for each request of a round. */
async function round(clients: readonly Socket[], request: Buffer): Promise<number> {
  const started = process.hrtime.bigint();
  for (let turn = 0; turn < TURNS_PER_ROUND; turn++) {
    for (const client of clients) client.deliver(request);
    answerAll();
    if (turn % 100 === 0) await nextTurn();
  }
  return Number(process.hrtime.bigint() - started) / (TURNS_PER_ROUND * CLIENTS);
}

async function measure(
  accept: (connection: Connection) => void,
  target: string,
  expected: RegExp,
): Promise<void> {
  const request = Buffer.from(
    `GET ${target} HTTP/1.1\r\nHost: a.test:8080\r\nX-Bench: yes\r\n\r\n`,
    'latin1',
  );
  const clients = await connect(accept, request);
  // One for the compiler.
  await round(clients, request);
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) times.push(await round(clients, request));
  const answer = clients[0]?.last?.toString('latin1') ?? '';
  if (!answer.startsWith('HTTP/1.1 200 OK\r\n') || !expected.test(answer)) {
    throw new Error(`${target} was answered with ${answer.slice(0, 300)}`);
  }
  const best = Math.min(...times).toFixed(0);
  const median = times.sort((one, other) => one - other)[ROUNDS >> 1]?.toFixed(0);
  console.log(`${target}: best ${best} ns, median ${median} ns`);
}

inlineMore();
const accept = await serve();
await measure(accept, '/plain', /via: 1\.1 trickster-gateway/);
await measure(accept, '/filtered', /x-served-by: bench/);
await measure(accept, '/cached', /status=hit/);
process.exit(0);
