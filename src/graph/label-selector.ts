import type { LabelSelector } from '../apis/label-selector.js';

type Labels = Readonly<Record<string, string>>;

/** meta/v1 semantics: all requirements must hold; an empty selector selects everything, an unknown operator nothing. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => holds(requirement, labels))
  );
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
