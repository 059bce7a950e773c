import type { Dice } from '../seeded-random.js';
import type { Task } from './task.js';

/** What the lanes of a run share. */
export interface LaneContext {
  readonly ports: { readonly http: number; readonly https: number };
  readonly dice: Dice;
  /** Share of answers that a client abandons, in percent. */
  readonly violence: number;
  /** Undefined when there is nothing more to do. */
  next(): Task | undefined;
  /** The answer was complete and right. */
  done(task: Task): void;
  fault(text: string): void;
}
