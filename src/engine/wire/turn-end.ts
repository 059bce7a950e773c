/** Something that has work for the end of a turn of the event loop. */
export interface TurnEndTask {
  /** Must not throw: others come after it. */
  atTurnEnd(): void;
}

const due: TurnEndTask[] = [];
let isEnding = false;

/**
 * Runs the task at the end of this turn of the event loop, after every socket that is readable now has been read. One
 * that is asked for at the end of a turn still belongs to that turn. The caller asks once per turn.
 */
export function atTurnEnd(task: TurnEndTask): void {
  if (due.push(task) === 1) setImmediate(endTurn);
}

/** Whether the tasks run now: what is left for later now would be late by a turn. */
export function isTurnEnding(): boolean {
  return isEnding;
}

function endTurn(): void {
  isEnding = true;
  // More may be added meanwhile.
  for (const task of due) task.atTurnEnd();
  due.length = 0;
  isEnding = false;
}
