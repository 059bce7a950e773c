import type { UrlRewrite } from '../../ir/http-filter.js';
import { CONTINUE, type RequestStep } from '../exchange/route-entry.js';
import { compilePathModifier } from './path-modifier.js';

/** Changes authority and path; the query stays. */
export function compileUrlRewrite({ hostname, path }: UrlRewrite): RequestStep {
  const rewrite = path && compilePathModifier(path);
  return {
    run: ({ request, route }) => {
      if (hostname !== undefined) request.authority = hostname;
      if (rewrite) request.path = rewrite(request.path, request.queryStart, route?.matchedPrefix);
      return CONTINUE;
    },
  };
}
