import type { Dice } from '../seeded-random.js';

/** How the origin ends a body; `cut`: it goes away before the end. */
export type Framing = 'length' | 'chunked' | 'close' | 'cut';

/** One request of a client and what its answer must be. */
export interface Task {
  readonly target: string;
  readonly seed: number;
  /** Bytes of the response's body. */
  readonly size: number;
  /** Bytes of the request's body; 0: a GET. */
  readonly upload: number;
  readonly framing: Framing;
}

export interface TaskMix {
  /** Share of answers that the origin cuts, in percent. */
  readonly cuts: number;
  /** Largest body in bytes; few are as large. */
  readonly largest: number;
}

/** Bodies below `/c/` may be served from the cache: there are few, so that many are. */
const CACHED_SEEDS = 8;

export function nextTask(dice: Dice, seed: number, { cuts, largest }: TaskMix): Task {
  const size = dice.chance(3) ? dice.roll(largest) : dice.roll(dice.chance(30) ? 200_000 : 6_000);
  if (dice.chance(20)) {
    const cached = dice.roll(CACHED_SEEDS);
    return taskOf('/c', { seed: cached, size: 5_000 * (cached + 1), framing: 'length', upload: 0 });
  }
  const framing = dice.chance(cuts) ? 'cut' : dice.pick<Framing>('length', 'length', 'chunked', 'close');
  const upload = dice.chance(30) ? 1 + dice.roll(dice.chance(10) ? largest : 100_000) : 0;
  return taskOf('/p', { seed, size: framing === 'cut' ? size + 1 : size, framing, upload });
}

function taskOf(prefix: string, task: Omit<Task, 'target'>): Task {
  return { ...task, target: `${prefix}/${task.seed}/${task.size}/${task.framing}` };
}

/** The task that a target asks for, without the upload. */
export function readTarget(target: string): Omit<Task, 'upload'> {
  const [, , seed, size, framing] = target.split('/');
  // Only the clients of the run ask, and they ask as `taskOf` writes.
  return { target, seed: Number(seed), size: Number(size), framing: framing as Framing };
}
