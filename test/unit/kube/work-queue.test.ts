import { expect } from 'chai';

import { TokenBucket } from '../../../src/kube/token-bucket.js';
import { WorkQueue } from '../../../src/kube/work-queue.js';
import { ManualClock, settled } from '../../support/manual-clock.js';

describe('kube/work-queue', () => {
  let clock: ManualClock;
  let done: string[];
  let open: Map<string, (retryMs?: number) => void>;
  let queue: WorkQueue<number>;

  beforeEach(() => {
    clock = new ManualClock();
    done = [];
    open = new Map();
    queue = new WorkQueue<number>({
      handle: (key, value) => {
        done.push(`${key}=${value}`);
        return new Promise((resolve) => open.set(key, resolve));
      },
      concurrency: 2,
      clock,
    });
  });

  async function finish(key: string, retryMs?: number): Promise<void> {
    open.get(key)?.(retryMs);
    await settled();
  }

  it('handles keys in order, some at a time, and of each only the newest value', async () => {
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key, 1);
    queue.add('c', 2);
    queue.add('c', 3);
    expect(done).to.deep.equal(['a=1', 'b=1']);
    await finish('a');
    expect(done).to.deep.equal(['a=1', 'b=1', 'c=3']);
    await finish('b');
    await finish('c');
    await finish('d');
    expect(done).to.deep.equal(['a=1', 'b=1', 'c=3', 'd=1']);
    expect(queue.size).to.equal(0);
  });

  it('lets urgent keys go before those that wait longer', async () => {
    queue = new WorkQueue<number>({
      handle: (key) => {
        done.push(key);
        return new Promise((resolve) => open.set(key, resolve));
      },
      concurrency: 1,
      clock,
      isUrgent: (key) => key.startsWith('urgent'),
    });
    for (const key of ['a', 'b', 'urgent 1', 'urgent 2']) queue.add(key, 1);
    for (const key of ['a', 'urgent 1', 'urgent 2', 'b']) await finish(key);
    expect(done).to.deep.equal(['a', 'urgent 1', 'urgent 2', 'b']);
  });

  it('never handles one key twice at the same time', async () => {
    queue.add('a', 1);
    queue.add('a', 2);
    expect(done).to.deep.equal(['a=1']);
    await finish('a');
    expect(done).to.deep.equal(['a=1', 'a=2']);
  });

  it('retries after the time that is asked for, with the newest value, and holds up no other key', async () => {
    queue.add('a', 1);
    await finish('a', 1000);
    queue.add('a', 2);
    queue.add('b', 1);
    expect(done).to.deep.equal(['a=1', 'b=1']);
    await clock.advance(999);
    expect(done).to.have.length(2);
    await clock.advance(1);
    expect(done).to.deep.equal(['a=1', 'b=1', 'a=2']);
  });

  it('tells when there is nothing left, retries included', async () => {
    let idle = 0;
    await queue.idle();
    queue.add('a', 1);
    void queue.idle().then(() => (idle += 1));
    await finish('a', 500);
    expect(idle).to.equal(0);
    await clock.advance(500);
    await finish('a');
    expect(idle).to.equal(1);
  });

  it('forgets what has not begun when it is told so', async () => {
    queue.add('a', 1);
    queue.add('b', 1);
    queue.add('c', 1);
    await finish('a', 1000);
    queue.remove('a');
    queue.retain((key) => key !== 'c');
    queue.stop();
    queue.add('d', 1);
    await finish('b', 1000);
    await finish('c');
    await clock.advance(10_000);
    expect(done).to.deep.equal(['a=1', 'b=1', 'c=1']);
    expect(clock.sleeping).to.equal(0);
    await queue.idle();
  });
});

describe('kube/token-bucket', () => {
  it('lets a burst go at once and then so many in a second, in order', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, clock);
    const gone: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      void bucket.take(new AbortController().signal).then(() => gone.push(index));
    }
    await settled();
    expect(gone).to.deep.equal([0, 1, 2]);
    await clock.advance(500);
    expect(gone).to.deep.equal([0, 1, 2, 3]);
    await clock.advance(1000);
    expect(gone).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(bucket.tryTake()).to.equal(false);
    await clock.advance(60_000);
    expect([1, 2, 3, 4].map(() => bucket.tryTake())).to.deep.equal([true, true, true, false]);
  });
});
