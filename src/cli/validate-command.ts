import { readOptions } from '../app/read-options.js';
import { translateSnapshot } from '../app/translate-files.js';
import type { Condition } from '../apis/meta.js';
import { type FileProblem, formatProblem, sortProblems } from '../files/file-problem.js';
import { type FilesState } from '../files/fold-files.js';
import { readFiles } from '../files/file-source.js';
import { lineOf, type TrackedObject } from '../files/tracked-object.js';
import type { DesiredStatus, ObjectRef, PlannedStatus } from '../graph/status-plan.js';
import { EXIT } from './exit-codes.js';
import { isBad } from './status-command.js';

export interface Report {
  readonly text: string;
  readonly exitCode: number;
}

/**
 * `trickster-gateway validate`: everything that is wrong with some files: what an API server would refuse, and what
 * the status of an object would complain about. Warnings alone are no fault.
 */
export function validateCommand(paths: readonly string[], config: string | undefined): Report {
  const state = readFiles(paths);
  const { statuses } = translateSnapshot(readOptions(config), state.cluster);
  const problems = sortProblems([
    ...state.problems,
    ...statuses.flatMap((planned) => statusProblems(planned, state)),
    ...unattachedRoutes(statuses, state),
  ]);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const lines = problems.map((problem) => `${formatProblem(problem)}\n`).join('');
  const objects = `${String(state.objects.size)} ${state.objects.size === 1 ? 'object' : 'objects'}`;
  const verdict =
    errors === 0
      ? `${objects}, no problem\n`
      : `${objects}, ${String(errors)} ${errors === 1 ? 'problem' : 'problems'}\n`;
  return { text: lines + verdict, exitCode: errors === 0 ? EXIT.fine : EXIT.input };
}

function statusProblems({ object, status }: PlannedStatus, state: FilesState): FileProblem[] {
  const tracked = trackedOf(state, object);
  if (!tracked) return [];
  const said = new Set<string>();
  return faultsOf(status).flatMap(({ part, condition }) => {
    const { type, status: value, reason, message } = condition;
    // One cause often shows in several conditions and on several parents.
    if (said.has(message)) return [];
    said.add(message);
    const field = /\bspec[\w.[\]-]*/.exec(message)?.[0] ?? '';
    return [
      {
        severity: 'error' as const,
        file: tracked.found.file,
        line: lineOf(tracked.found, field.replace(/\.$/, '')),
        object: problemName(object),
        path: '',
        message: `${part}${type} would be ${value} (${reason}): ${message}`,
      },
    ];
  });
}

/** Conditions that only repeat what another one says, or that no file can do anything about. */
const CONSEQUENCES: ReadonlySet<string> = new Set([
  'ListenersNotValid',
  'ListenersNotResolved',
  'AddressNotAssigned',
  'Pending',
  'Invalid',
]);

function faultsOf(status: DesiredStatus): { part: string; condition: Condition }[] {
  const parts = partsOf(status).flatMap(({ part, conditions }) =>
    conditions.filter(isBad).map((condition) => ({ part, condition })),
  );
  const causes = parts.filter(({ condition }) => !CONSEQUENCES.has(condition.reason));
  return causes.length > 0 ? causes : parts.filter(({ condition }) => condition.type === 'Accepted');
}

function partsOf(status: DesiredStatus): { part: string; conditions: readonly Condition[] }[] {
  switch (status.shape) {
    case 'gatewayclass':
      return [{ part: '', conditions: status.conditions }];
    case 'gateway':
    case 'listenerset':
      return [
        { part: '', conditions: status.conditions },
        ...status.listeners.map(({ name, conditions }) => ({ part: `listener ${name}: `, conditions })),
      ];
    case 'route':
      return status.parents.map(({ conditions }) => ({ part: '', conditions }));
    case 'policy':
      return status.ancestors.map(({ conditions }) => ({ part: '', conditions }));
  }
}

/** In a cluster another controller may own the parent; among files it is a slip. */
function unattachedRoutes(statuses: readonly PlannedStatus[], state: FilesState): FileProblem[] {
  const known = new Set(
    statuses.flatMap(({ object, status }) =>
      status.shape === 'route' && status.parents.length > 0 ? [textOf(object)] : [],
    ),
  );
  return [...state.objects.values()].flatMap((tracked) => {
    const { kind, metadata } = tracked.object;
    if (!kind.endsWith('Route') || known.has(tracked.key)) return [];
    return [
      {
        severity: 'error' as const,
        file: tracked.found.file,
        line: lineOf(tracked.found, 'spec.parentRefs'),
        object: { kind, namespace: tracked.namespace, name: metadata.name },
        path: 'spec.parentRefs',
        message: 'names no Gateway of ours in these files: correct the name or add the Gateway',
      },
    ];
  });
}

function trackedOf(state: FilesState, object: ObjectRef): TrackedObject | undefined {
  return state.objects.get(textOf(object));
}

function textOf({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${namespace === '' ? '' : `${namespace}/`}${name}`;
}

function problemName({ kind, namespace, name }: ObjectRef): NonNullable<FileProblem['object']> {
  return namespace === '' ? { kind, name } : { kind, namespace, name };
}
