import { expect } from 'chai';
import { HandleWire } from '../../../src/engine/wire/handle-wire.js';
import { NetWire } from '../../../src/engine/wire/net-wire.js';
import type { FaultReport, Wire } from '../../../src/engine/wire/wire.js';
import { stressWire } from '../../support/wire-stress.js';

/** The short form; `STRESS_CONNECTIONS` and `STRESS_SEED` make it long and different. */
const connections = Number(process.env['STRESS_CONNECTIONS'] ?? '60');
const seed = Number(process.env['STRESS_SEED'] ?? '1');

const wires: readonly { name: string; create: (report: FaultReport) => Wire }[] = [
  { name: 'handle', create: (report) => new HandleWire(report) },
  { name: 'net', create: (report) => new NetWire(report) },
];

describe('wire under stress', function () {
  this.timeout(15_000 + connections * 100);

  for (const { name, create } of wires) {
    for (const tls of [false, true]) {
      const kind = `${name}, ${tls ? 'TLS' : 'TCP'}`;

      it(`brings every byte where it belongs (${kind})`, async () => {
        const faults: unknown[] = [];
        const wire = create((fault) => faults.push(fault));
        const result = await stressWire({ wire, seed, connections, concurrency: 20, tls, violence: 0 });
        expect(result.faults).to.deep.equal([]);
        expect(faults).to.deep.equal([]);
        expect([result.orderly, result.cut]).to.deep.equal([2 * connections, 0]);
      });

      it(`brings no wrong byte and closes each side once while sides are cut at random (${kind})`, async () => {
        const faults: unknown[] = [];
        const wire = create((fault) => faults.push(fault));
        const result = await stressWire({ wire, seed, connections, concurrency: 20, tls, violence: 5 });
        expect(result.faults).to.deep.equal([]);
        expect(faults).to.deep.equal([]);
        expect(result.cut).to.be.above(0);
      });
    }
  }
});
