/** What is wrong with an object, and where. */
export interface FieldProblem {
  /** Such as `spec.rules[0].matches[1].path.value`; `''` for the object as a whole. */
  readonly path: string;
  /** What to do about it, as the rest of a sentence that the path begins: `must start with "/"`. */
  readonly message: string;
  /** Of an unknown field: the path of the one that was probably meant. */
  readonly meant?: string;
}

/** The path of a field of what `path` leads to. */
export function fieldPath(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** The path of an element of the list that `path` leads to. */
export function itemPath(path: string, index: number): string {
  return `${path}[${String(index)}]`;
}

/** Without the complaints that a field is missing which is there under a misspelled name. */
export function withoutConsequences(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const meant = new Set(problems.flatMap((problem) => problem.meant ?? []));
  return problems.filter(({ path, message }) => !meant.has(path) || !message.startsWith('is required'));
}
