/** Something that collects output during a turn of the event loop. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];
let flushing: Flushable[] = [];

/**
 * Flushes at the end of this turn of the event loop, after every socket that is readable now has been read: the
 * output of all streams of a connection leaves in one write (and one TLS record). The caller asks once per turn.
 */
export function flushAtTurnEnd(target: Flushable): void {
  if (waiting.push(target) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  const targets = waiting;
  waiting = flushing;
  flushing = targets;
  for (const target of targets) target.flush();
  targets.length = 0;
}
