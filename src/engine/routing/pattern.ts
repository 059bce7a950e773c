import { RE2JS, RE2Set } from 're2js';

/** A pattern of the Gateway API (RE2, linear time) that has to match the whole text. */
export interface Pattern {
  test(text: string): boolean;
}

/** Translation refuses patterns that do not compile; one that gets here all the same matches nothing. */
export function compilePattern(source: string): Pattern {
  try {
    const compiled = RE2JS.compile(source);
    return { test: (text) => compiled.testExact(text) };
  } catch {
    return { test: () => false };
  }
}

/** Tests many patterns in one pass over the text. */
export interface PatternSet {
  /** Positions of the patterns that match the whole text, ascending. */
  matching(text: string): readonly number[];
}

const NONE: readonly number[] = [];

export function compilePatternSet(sources: readonly string[]): PatternSet {
  if (sources.length > 1) {
    try {
      return combined(sources);
    } catch {
      // One does not compile, or together they are too large for one automaton: test them one by one.
    }
  }
  const patterns = sources.map(compilePattern);
  return {
    matching: (text) => patterns.flatMap((pattern, index) => (pattern.test(text) ? [index] : [])),
  };
}

function combined(sources: readonly string[]): PatternSet {
  const set = new RE2Set(RE2Set.ANCHOR_BOTH);
  for (const source of sources) set.add(source);
  set.compile();
  return {
    matching: (text) => {
      const found = set.match(text);
      return found.length === 0 ? NONE : found.sort((a, b) => a - b);
    },
  };
}
