import { stringify } from 'yaml';

import type { Condition } from '../apis/meta.js';
import type { DesiredStatus, PlannedStatus } from '../graph/status-plan.js';
import { OperatorError, messageOf } from '../util/errors.js';

export interface StatusOptions {
  /** Base URL of the management port. */
  readonly mgmt: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output?: string;
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

async function fetchStatuses(mgmt: string): Promise<readonly PlannedStatus[]> {
  const url = new URL('/trickster/status', mgmt);
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`it answered ${String(response.status)}`);
    // Our own process's answer; its shape is this type's.
    return (await response.json()) as readonly PlannedStatus[];
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new OperatorError(
      'ERR_ENVIRONMENT',
      `no running trickster-gateway answers at ${url.origin}: ${messageOf(cause)}`,
      { cause: error },
    );
  }
}

function isAsked({ object }: PlannedStatus, kind: string | undefined, options: StatusOptions): boolean {
  if (kind !== undefined && object.kind.toLowerCase() !== kind.toLowerCase().replace(/s$/, '')) return false;
  if (options.allNamespaces === true || options.namespace === undefined) return true;
  return object.namespace === '' || object.namespace === options.namespace;
}

interface Row {
  readonly name: string;
  readonly part: string;
  readonly conditions: readonly Condition[];
}

function rowsOf({ object, status }: PlannedStatus): Row[] {
  const place = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
  return partsOf(status).map(({ part, conditions }) => ({
    name: `${object.kind} ${place}`,
    part,
    conditions,
  }));
}

function partsOf(status: DesiredStatus): { part: string; conditions: readonly Condition[] }[] {
  switch (status.shape) {
    case 'gatewayclass':
      return [{ part: '', conditions: status.conditions }];
    case 'gateway':
    case 'listenerset':
      return [
        { part: '', conditions: status.conditions },
        ...status.listeners.map(({ name, attachedRoutes, conditions }) => ({
          part: `listener ${name} (${String(attachedRoutes)} routes)`,
          conditions,
        })),
      ];
    case 'route':
      return status.parents.map(({ parentRef, conditions }) => ({
        part: `on ${parentRef.kind} ${parentRef.name}${parentRef.sectionName ? `/${parentRef.sectionName}` : ''}`,
        conditions,
      }));
    case 'policy':
      return status.ancestors.map(({ ancestorRef, conditions }) => ({
        part: `for ${ancestorRef.kind} ${ancestorRef.name}`,
        conditions,
      }));
  }
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
