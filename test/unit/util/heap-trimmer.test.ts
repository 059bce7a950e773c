import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';

import { expect } from 'chai';

import { HeapTrimmer, trimHeap } from '../../../src/util/heap-trimmer.js';

describe('HeapTrimmer', () => {
  function trimmer(total: number) {
    const heap = { total, trims: 0 };
    const trimmed = new HeapTrimmer(
      { quietMs: 20, longestMs: 100 },
      {
        size: () => ({ total_heap_size: heap.total, used_heap_size: 100e6 }),
        trim: () => {
          heap.trims++;
        },
      },
    );
    return { heap, trimmed };
  }

  it('trims once when a burst is over', async () => {
    const { heap, trimmed } = trimmer(400e6);
    for (let i = 0; i < 5; i++) {
      trimmed.worked();
      await wait(5);
    }
    expect(heap.trims).to.equal(0);
    await wait(60);
    expect(heap.trims).to.equal(1);
  });

  it('trims in the middle of work that never pauses', async () => {
    const { heap, trimmed } = trimmer(400e6);
    for (let i = 0; i < 50 && heap.trims === 0; i++) {
      trimmed.worked();
      await wait(5);
    }
    expect(heap.trims).to.equal(1);
  });

  it('leaves a small heap alone', async () => {
    const { heap, trimmed } = trimmer(40e6);
    trimmed.worked();
    await wait(60);
    expect(heap.trims).to.equal(0);
  });

  it('trims again only after the heap has grown', async () => {
    const { heap, trimmed } = trimmer(400e6);
    for (const total of [400e6, 170e6, 220e6]) {
      heap.total = total;
      trimmed.worked();
      await wait(60);
    }
    expect(heap.trims).to.equal(2);
  });

  it('does nothing after it was stopped', async () => {
    const { heap, trimmed } = trimmer(400e6);
    trimmed.worked();
    trimmed.stop();
    await wait(60);
    expect(heap.trims).to.equal(0);
  });
});

describe('trimHeap', () => {
  it('shrinks the heap and leaves no global behind', () => {
    let garbage: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
    const before = getHeapStatistics().total_heap_size;
    expect(garbage).to.have.length(1_000_000);
    garbage = undefined;
    trimHeap();
    expect(getHeapStatistics().total_heap_size).to.be.lessThan(before - 30e6);
    expect(globalThis).to.not.have.property('gc');
  });

  it('is done by several threads at once', async () => {
    const thread = new Worker(new URL('../../support/trim-heap-thread.ts', import.meta.url), {
      workerData: 30,
    });
    const gone = once(thread, 'exit');
    for (let i = 0; i < 30; i++) {
      trimHeap();
      await wait(1);
    }
    expect((await gone)[0]).to.equal(0);
  });
});
