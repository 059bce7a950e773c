import { setTimeout as wait } from 'node:timers/promises';

/** Asks again and again until a condition holds; fails after a deadline. */
export async function until(condition: () => boolean, everyMs = 5, deadlineMs = 5000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error('the condition did not come true in time');
    await wait(everyMs);
  }
}
