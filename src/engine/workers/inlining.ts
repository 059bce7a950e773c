import { setFlagsFromString } from 'node:v8';

/**
 * A request runs through some sixty small methods. By V8's own limits (920 bytes of bytecode in all, 460 for one) its compiler
 * stops halfway and leaves calls in between; with these it makes a request 5 to 9 % cheaper, in JavaScript (`make bench-engine`).
 */
export const INLINING_LIMITS = [
  '--max-inlined-bytecode-size-cumulative=3000',
  '--max-inlined-bytecode-size=1000',
];

/** Has V8 inline more, in all threads, from now on. */
export function inlineMore(): void {
  for (const flag of INLINING_LIMITS) setFlagsFromString(flag);
}
