import type { GrpcMethodMatch } from '../apis/gateway/grpc-route.js';
import type { HttpPathMatch, HttpRouteMatch } from '../apis/gateway/http-route.js';
import { isUnsupported, writtenValue } from '../apis/unsupported-value.js';
import type { RuleFault } from './http-rule.js';
import type { Libraries } from './libraries.js';

/** A part of a match that holds a value and says how it is compared. */
interface Pattern {
  readonly type: string;
  readonly name: string;
  readonly value: string;
}

/** The first thing about a match that cannot be honoured. */
export function findHttpMatchFault(
  match: HttpRouteMatch,
  field: string,
  libraries: Libraries,
): RuleFault | undefined {
  const problem =
    typeProblem('method', match.method) ??
    pathProblem(match.path, libraries) ??
    valuesProblem('headers', match.headers ?? [], libraries) ??
    valuesProblem('queryParams', match.queryParams ?? [], libraries);
  return problem === undefined ? undefined : { reason: 'UnsupportedValue', cause: `${field}.${problem}` };
}

export function findGrpcMatchFault(
  match: { readonly method?: GrpcMethodMatch; readonly headers?: readonly Pattern[] },
  field: string,
  libraries: Libraries,
): RuleFault | undefined {
  const problem =
    methodProblem(match.method, libraries) ?? valuesProblem('headers', match.headers ?? [], libraries);
  return problem === undefined ? undefined : { reason: 'UnsupportedValue', cause: `${field}.${problem}` };
}

/** A constant of a newer version of the API. */
function typeProblem(field: string, value: string | undefined): string | undefined {
  return isUnsupported(value) ? `${field}: "${writtenValue(value)}" is not supported` : undefined;
}

function pathProblem(path: HttpPathMatch, libraries: Libraries): string | undefined {
  const unknown = typeProblem('path.type', path.type);
  if (unknown !== undefined) return unknown;
  if (path.type === 'RegularExpression') return regexProblem('path', path.value, libraries);
  return path.value.startsWith('/') ? undefined : `path: "${path.value}" does not start with /`;
}

function methodProblem(method: GrpcMethodMatch | undefined, libraries: Libraries): string | undefined {
  if (method?.type !== 'RegularExpression') return typeProblem('method.type', method?.type);
  return (
    (method.service === undefined ? undefined : regexProblem('method.service', method.service, libraries)) ??
    (method.method === undefined ? undefined : regexProblem('method.method', method.method, libraries))
  );
}

function valuesProblem(
  field: string,
  patterns: readonly Pattern[],
  libraries: Libraries,
): string | undefined {
  for (const { type, name, value } of patterns) {
    const problem =
      type === 'RegularExpression'
        ? regexProblem(`${field}[${name}]`, value, libraries)
        : (typeProblem(`${field}[${name}].type`, type) ??
          (value === '' ? `${field}[${name}] has no value` : undefined));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function regexProblem(field: string, pattern: string, libraries: Libraries): string | undefined {
  const problem = libraries.regexProblem(pattern);
  return problem === undefined ? undefined : `${field}: "${pattern}" is no RE2 expression (${problem})`;
}
