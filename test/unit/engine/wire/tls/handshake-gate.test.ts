import { expect } from 'chai';
import { HandshakeGate } from '../../../../../src/engine/wire/tls/handshake-gate.js';
import { HandleWire } from '../../../../../src/engine/wire/handle-wire.js';
import { until } from '../../../../support/until.js';
import type { Probe } from '../../../../support/wire-probe.js';
import { contextA, TlsBench } from '../../../../support/wire-tls-bench.js';
import type { Connection, ServerTlsOptions } from '../../../../../src/engine/wire/wire.js';

describe('HandshakeGate', () => {
  const options: ServerTlsOptions = {
    context: contextA,
    alpn: [],
    clientCertificate: 'none',
  };
  let bench: TlsBench;

  beforeEach(() => {
    bench = new TlsBench((report) => new HandleWire(report));
  });

  afterEach(async () => {
    await bench.close();
  });

  it('starts a few in each turn, in order, and all in the end', async () => {
    const gate = new HandshakeGate(2);
    const started: string[] = [];
    const shared = Buffer.alloc(1);
    for (let index = 0; index < 5; index++) {
      shared[0] = index;
      gate.secure(fake(started, index), options, shared);
    }
    expect(started).to.deep.equal(['secure 0 0', 'secure 1 1', 'pause 2', 'pause 3', 'pause 4']);
    await nextTurn();
    expect(started.slice(5)).to.deep.equal(['secure 2 2', 'resume 2', 'secure 3 3', 'resume 3']);
    shared[0] = 9;
    gate.secure(fake(started, 9), options, shared);
    await nextTurn();
    expect(started.slice(9)).to.deep.equal(['pause 9', 'secure 4 4', 'resume 4', 'secure 9 9', 'resume 9']);
    await nextTurn();
    await nextTurn();
    gate.secure(fake(started, 7), options, shared);
    expect(started.at(-1)).to.equal('secure 7 9');
  });

  it('lets real handshakes through, and forgets connections that went meanwhile', async () => {
    const gate = new HandshakeGate(1);
    const connections: Connection[] = [];
    const probes: Probe[] = [];
    const { acceptor } = await bench.serve((probe, connection) => {
      connections.push(connection);
      probes.push(probe);
      const onRead = probe.onRead.bind(probe);
      probe.onRead = (buffer, length) => {
        probe.onRead = onRead;
        gate.secure(connection, options, buffer.subarray(0, length));
      };
      probe.attach(connection, Buffer.alloc(65_536));
    });
    const clients = Array.from({ length: 8 }, () => bench.secureClient(acceptor.port));
    clients[5]?.connection.destroy();
    const others = clients.filter((_, index) => index !== 5);
    await Promise.all(others.map((client) => client.until(() => client.connected, 'connect')));
    others[0]?.connection.write(Buffer.from('x'));
    // Connections that come at once are accepted in any order.
    await until(() => probes.some(({ text }) => text === 'x'));
    expect(connections.length).to.be.at.least(7);
  });
});

function fake(log: string[], index: number): Connection {
  const partial: Pick<Connection, 'secure' | 'pause' | 'resume'> = {
    secure: (_, received) => {
      log.push(`secure ${String(index)} ${String(received[0])}`);
    },
    pause: () => {
      log.push(`pause ${String(index)}`);
    },
    resume: () => {
      log.push(`resume ${String(index)}`);
    },
  };
  return partial as Connection;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
