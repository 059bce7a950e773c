/** Directives of Cache-Control: names in lower case; `true` when there is no argument. */
export type Directives = ReadonlyMap<string, string | true>;

const NO_DIRECTIVES: Directives = new Map();
const DIRECTIVE = /([!#$%&'*+.^_`|~\w-]+)(?:=(?:"((?:[^"\\]|\\.)*)"?|([^\s,;"]*)))?/g;

/**
 * Every line of a Cache-Control field as one list (RFC 9111 §5.2): any case, token or quoted arguments. Of a
 * directive that is repeated the first counts (§4.2.1).
 */
export function parseDirectives(lines: readonly string[]): Directives {
  if (lines.length === 0) return NO_DIRECTIVES;
  const directives = new Map<string, string | true>();
  for (const [, name = '', quoted, token] of lines.join(',').matchAll(DIRECTIVE)) {
    const key = name.toLowerCase();
    if (!directives.has(key)) directives.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token ?? true);
  }
  return directives;
}

/** Largest number of seconds that is told apart (RFC 9111 §1.2.2). */
const MOST_SECONDS = 2 ** 31;

/** Text of digits as ms; undefined when it is anything else. */
export function parseSeconds(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), MOST_SECONDS) * 1000 : undefined;
}

/** A directive's argument in ms: absent without the directive; what is no number of seconds counts as 0 (§4.2.1). */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const argument = directives.get(name);
  if (argument === undefined) return undefined;
  return argument === true ? 0 : (parseSeconds(argument) ?? 0);
}

/** Field names in the argument of `no-cache` and `private`, in lower case; empty when the directive is bare. */
export function fieldNamesOf(directives: Directives, name: string): readonly string[] {
  const argument = directives.get(name);
  if (argument === undefined || argument === true) return [];
  return argument
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
