import { stringify } from 'yaml';

import type { Condition, StoredCondition } from '../apis/meta.js';
import type { ObjectRef, ParentReference } from '../graph/status-plan.js';
import { OperatorError } from '../util/errors.js';
import { askManagement } from './ask-management.js';

export interface StatusOptions {
  /** Base URL of the management port. */
  readonly mgmt: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output?: string;
}

/** One element of what `/trickster/status` answers. */
interface Held {
  readonly object: ObjectRef;
  readonly status: Conditioned;
}

/** `trickster-gateway status`: the conditions of everything a running process knows, worst first. */
export async function statusCommand(kind: string | undefined, options: StatusOptions): Promise<string> {
  const planned = (await fetchStatuses(options.mgmt)).filter((each) => isAsked(each, kind, options));
  switch (options.output) {
    case 'json':
      return `${JSON.stringify(planned, undefined, 2)}\n`;
    case 'yaml':
      return stringify(planned);
    case undefined:
    case 'wide':
      return table(planned.flatMap(rowsOf), options.output === 'wide');
    default:
      throw new OperatorError('ERR_USAGE', `output ${options.output} is not one of wide, yaml, json`);
  }
}

async function fetchStatuses(mgmt: string): Promise<readonly Held[]> {
  // Our own process's answer; its shape is this type's.
  return (await askManagement(mgmt, '/trickster/status')) as readonly Held[];
}

function isAsked({ object }: Held, kind: string | undefined, options: StatusOptions): boolean {
  if (kind !== undefined && object.kind.toLowerCase() !== kind.toLowerCase().replace(/s$/, '')) return false;
  if (options.allNamespaces === true || options.namespace === undefined) return true;
  return object.namespace === '' || object.namespace === options.namespace;
}

interface Row {
  readonly name: string;
  readonly part: string;
  readonly conditions: readonly StoredCondition[];
}

/** The members of a stored status that hold conditions; which of them are there depends on the kind. */
interface Conditioned {
  readonly conditions?: readonly StoredCondition[];
  readonly listeners?: readonly Part[];
  readonly parents?: readonly Part[];
  readonly ancestors?: readonly Part[];
}

interface Part {
  readonly name?: string;
  readonly attachedRoutes?: number;
  readonly parentRef?: ParentReference;
  readonly ancestorRef?: ParentReference;
  readonly conditions?: readonly StoredCondition[];
}

function rowsOf({ object, status }: Held): Row[] {
  const name = `${object.kind} ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}`;
  const { conditions, listeners = [], parents = [], ancestors = [] } = status;
  return [
    ...(conditions ? [{ name, part: '', conditions }] : []),
    ...[...listeners, ...parents, ...ancestors].map((part) => ({
      name,
      part: describePart(part),
      conditions: part.conditions ?? [],
    })),
  ];
}

function describePart({ name, attachedRoutes = 0, parentRef, ancestorRef }: Part): string {
  const reference = parentRef ?? ancestorRef;
  if (!reference) return `listener ${name ?? ''} (${String(attachedRoutes)} routes)`;
  const section = reference.sectionName === undefined ? '' : `/${reference.sectionName}`;
  return `${parentRef ? 'on' : 'for'} ${reference.kind} ${reference.name}${section}`;
}

/** Conditions that are good when they are False. */
const NEGATIVE: ReadonlySet<string> = new Set([
  'Conflicted',
  'PartiallyInvalid',
  'OverlappingTLSConfig',
  'InsecureFrontendValidationMode',
]);

export function isBad({ type, status }: Condition): boolean {
  return status !== (NEGATIVE.has(type) ? 'False' : 'True');
}

function table(rows: readonly Row[], wide: boolean): string {
  if (rows.length === 0) return 'nothing to show\n';
  const worst = (row: Row): number => row.conditions.filter(isBad).length;
  const sorted = [...rows].sort((a, b) => worst(b) - worst(a) || a.name.localeCompare(b.name, 'en'));
  return sorted.map((row) => lineOf(row, wide)).join('');
}

function lineOf({ name, part, conditions }: Row, wide: boolean): string {
  const bad = conditions.filter(isBad);
  const head = `${bad.length === 0 ? 'ok ' : 'BAD'} ${name}${part === '' ? '' : ` ${part}`}\n`;
  const shown = wide ? conditions : bad;
  return (
    head +
    shown
      .map(({ type, status, reason, message }) => `      ${type}=${status} ${reason}: ${message}\n`)
      .join('')
  );
}
