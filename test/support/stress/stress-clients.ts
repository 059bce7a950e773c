import { Dice } from '../seeded-random.js';
import { http1Lane } from './http1-lane.js';
import { http2Lane } from './http2-lane.js';
import type { LaneContext } from './lane-context.js';
import { nextTask, type TaskMix } from './task.js';

export interface StressClientsOptions extends TaskMix {
  readonly ports: { readonly http: number; readonly https: number };
  readonly seed: number;
  /** Lanes of each kind: HTTP/1.1 and HTTP/2, in the clear and over TLS. */
  readonly lanes: number;
  /** Share of answers that clients abandon, in percent. */
  readonly violence: number;
  /** Whether another request shall be made, after so many. */
  readonly goesOn: (asked: number) => boolean;
}

export interface StressOutcome {
  readonly asked: number;
  /** Answers that were complete and right; the others were cut or abandoned. */
  readonly complete: number;
  readonly bytes: number;
  /** Anything that must not happen, in words; the first hundred. */
  readonly faults: readonly string[];
}

/** Many clients at once, each with its own pattern; resolves when all have ended. */
export async function runStressClients(options: StressClientsOptions): Promise<StressOutcome> {
  const { ports, seed, lanes, violence, goesOn } = options;
  const dice = new Dice(seed);
  const faults: string[] = [];
  let asked = 0;
  let complete = 0;
  let bytes = 0;
  const context: LaneContext = {
    ports,
    dice,
    violence,
    next: () => (goesOn(asked) ? nextTask(dice, ++asked, options) : undefined),
    done: ({ size, upload }) => {
      complete++;
      bytes += size + upload;
    },
    fault: (text) => {
      if (faults.length < 100) faults.push(text);
    },
  };
  await Promise.all(
    Array.from({ length: lanes }, () => [
      http1Lane(context, false),
      http1Lane(context, true),
      http2Lane(context, false),
      http2Lane(context, true),
    ]).flat(),
  );
  return { asked, complete, bytes, faults };
}
