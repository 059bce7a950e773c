import type { PathModifier } from '../../ir/http-filter.js';
import { toPathLiteral } from './literal.js';

/** A path with its query, changed. The replacement is literal and the query stays. */
export type PathRewrite = (target: string, queryStart: number, matchedPrefix: string | undefined) => string;

export function compilePathModifier({ type, value }: PathModifier): PathRewrite {
  const literal = toPathLiteral(value);
  return type === 'full' ? replaceFull(literal) : replacePrefix(literal);
}

function replaceFull(literal: string): PathRewrite {
  const path = literal === '' ? '/' : literal;
  return (target, queryStart) => path + target.slice(queryStart);
}

/** Element by element, with one slash at the seam and never an empty path (HTTPPathModifier.replacePrefixMatch). */
function replacePrefix(literal: string): PathRewrite {
  const replacement = literal.replace(/\/+$/, '');
  return (target, queryStart, matchedPrefix) => {
    // Only prefix matches may have this modifier; anything else stays as it is.
    if (matchedPrefix === undefined) return target;
    let rest = matchedPrefix.length;
    if (rest >= queryStart) return (replacement === '' ? '/' : replacement) + target.slice(queryStart);
    while (target.charCodeAt(rest) === SLASH) rest++;
    return `${replacement}/${target.slice(rest)}`;
  };
}

const SLASH = 47;
