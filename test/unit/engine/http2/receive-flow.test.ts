import { expect } from 'chai';
import { DEFAULT_WINDOW } from '../../../../src/engine/http2/frame.js';
import { ReceiveFlow } from '../../../../src/engine/http2/receive-flow.js';

const WINDOW = 16 * 1024 * 1024;

describe('ReceiveFlow', () => {
  let updates: number[];
  let flow: ReceiveFlow;

  beforeEach(() => {
    updates = [];
    flow = new ReceiveFlow({
      windowUpdate: (id, increment) => {
        expect(id).to.equal(0);
        updates.push(increment);
      },
    });
  });

  it('opens the window of the connection', () => {
    flow.open();
    expect(updates).to.deep.equal([WINDOW - DEFAULT_WINDOW]);
  });

  it('gives back what was received once it is half of the window', () => {
    expect(flow.receive(WINDOW / 2 - 1)).to.equal(true);
    expect(updates).to.deep.equal([]);
    expect(flow.receive(1)).to.equal(true);
    expect(updates).to.deep.equal([WINDOW / 2]);
    expect(flow.receive(WINDOW)).to.equal(true);
  });

  it('takes no more than the window', () => {
    expect(flow.receive(WINDOW + 1)).to.equal(false);
  });

  it('doubles the window of a stream up to 1 MiB', () => {
    const grown: number[] = [];
    for (let limit = DEFAULT_WINDOW; ;) {
      const growth = flow.grow(limit);
      if (growth === 0) break;
      grown.push((limit += growth));
    }
    expect(grown).to.deep.equal([131_070, 262_140, 524_280, 1_048_560, 1_048_576]);
  });

  it('bounds what all windows grow together, until a stream ends', () => {
    const grow = (): number => {
      let limit = DEFAULT_WINDOW;
      for (let growth = flow.grow(limit); growth > 0; growth = flow.grow(limit)) limit += growth;
      return limit;
    };
    const limits = [grow(), grow(), grow()];
    const [first = 0] = limits;
    expect(limits.map((limit) => limit - DEFAULT_WINDOW)).to.deep.equal([983_041, 851_967, 0]);
    flow.release(first);
    expect(grow()).to.equal(first);
  });
});
