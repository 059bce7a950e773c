/** One place where an object is not as expected. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
  /** The list element that was compared: its other fields may say why. */
  readonly within?: unknown;
}

const pattern = '~ ';
// What tells the elements of a list apart, for better messages.
const identities = ['type', 'name', 'kind', 'controllerName', 'sectionName'];

/**
 * Compares what is expected with what there is. Expected maps may leave out
 * keys, expected lists may leave out elements, in any order; a text that starts
 * with `~ ` is a regular expression. Empty when all is as expected.
 */
export function match(expected: unknown, actual: unknown, path = ''): readonly Difference[] {
  if (Array.isArray(expected)) return matchList(expected, actual, path);
  if (isMap(expected)) return matchMap(expected, actual, path);
  const same =
    typeof expected === 'string' && expected.startsWith(pattern)
      ? typeof actual === 'string' && new RegExp(expected.slice(pattern.length), 's').test(actual)
      : expected === actual;
  return same ? [] : [{ path, expected, actual }];
}

function matchMap(expected: Record<string, unknown>, actual: unknown, path: string): readonly Difference[] {
  if (!isMap(actual)) return [{ path, expected, actual }];
  return Object.entries(expected).flatMap(([key, value]) => match(value, actual[key], `${path}.${key}`));
}

function matchList(expected: readonly unknown[], actual: unknown, path: string): readonly Difference[] {
  if (!Array.isArray(actual)) return [{ path, expected, actual }];
  if (expected.length === 0) return actual.length === 0 ? [] : [{ path, expected, actual }];
  return expected.flatMap((wanted, index): readonly Difference[] => {
    const label = `${path}[${identity(wanted) ?? index}]`;
    const attempts = actual.map((element: unknown) =>
      match(wanted, element, label).map((difference) => ({ within: element, ...difference })),
    );
    const [closest] = attempts.sort((a, b) => weight(wanted, a) - weight(wanted, b));
    return closest ?? [{ path: label, expected: wanted, actual: undefined }];
  });
}

/** Fewer differences are closer, and an element of another identity is far away. */
function weight(wanted: unknown, differences: readonly Difference[]): number {
  const other =
    isMap(wanted) && differences.some(({ path }) => identities.includes(path.split('.').at(-1) ?? ''));
  return differences.length + (other ? 1000 : 0);
}

function identity(value: unknown): string | undefined {
  if (!isMap(value)) return undefined;
  const key = identities.find((name) => typeof value[name] === 'string');
  return key && `${key}=${String(value[key])}`;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Shows differences as a diff of expected and actual. */
export function show(differences: readonly Difference[]): string {
  return differences
    .map(({ path, expected, actual, within }) => {
      const where = within === undefined ? '' : `\n    in ${text(within)}`;
      return `  ${path}\n    - ${text(expected)}\n    + ${text(actual)}${where}`;
    })
    .join('\n');
}

function text(value: unknown): string {
  return value === undefined ? '(nothing)' : JSON.stringify(value);
}
