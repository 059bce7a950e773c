import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts the time of threads in hundredths of a second. */
const MICROS_PER_TICK = 10_000;

/** CPU time of a process, its children and all their threads, also of those that have ended, in µs. */
export function cpuMicros(pid: number): number {
  let ticks = 0;
  for (const each of family(pid)) {
    // User and system time, and those of children that have ended and were waited for.
    const times = fieldsOf(`/proc/${each}/stat`).slice(11, 15);
    ticks += times.reduce((sum, time) => sum + Number(time), 0);
  }
  return ticks * MICROS_PER_TICK;
}

/** Resident memory of a process and its children; what they share counts for each of them. */
export function residentBytes(pid: number): number {
  let kilobytes = 0;
  for (const each of family(pid)) {
    const match = /VmRSS:\s+(\d+)/.exec(read(`/proc/${each}/status`));
    kilobytes += Number(match?.[1] ?? 0);
  }
  return kilobytes * 1024;
}

/** A process and all that descend from it, ancestors first. */
export function family(pid: number): number[] {
  const found = [pid];
  for (const task of entries(`/proc/${pid}/task`)) {
    const children = read(`/proc/${pid}/task/${task}/children`).trim();
    if (children !== '') found.push(...children.split(' ').flatMap((child) => family(Number(child))));
  }
  return found;
}

/** The fields behind the name, which may contain spaces; the first is the state. */
function fieldsOf(file: string): string[] {
  const text = read(file);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
