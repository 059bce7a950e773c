import { FormatRegistry, type TObject, type TSchema, TypeGuard } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';
import ipaddr from 'ipaddr.js';
import { LineCounter, parseDocument } from 'yaml';

import { parseDuration } from '../../util/duration.js';
import { OperatorError } from '../../util/errors.js';
import { nearest } from '../../util/nearest.js';
import { OptionsSchema, type RawOptions } from './schema.js';

FormatRegistry.Set('duration', (text) => parseDuration(text) !== undefined);
FormatRegistry.Set('cidr', (text) => ipaddr.isValidCIDR(text) || ipaddr.isValid(text));

/**
 * Reads a configuration file. Throws ERR_CONFIG_INVALID that lists every problem with its key; `origin` says where
 * the text came from.
 */
export function parseOptions(text: string, origin: string): RawOptions {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  if (document.errors.length > 0) {
    throw invalid(
      origin,
      document.errors.map(({ message, pos }) => `line ${String(lines.linePos(pos[0]).line)}: ${message}`),
    );
  }
  // Defaults of defaults (a record whose default has members with defaults) take a second round.
  const given: unknown = Value.Default(OptionsSchema, document.toJS() ?? {});
  const value: unknown = Value.Default(OptionsSchema, given);
  const problems = [
    ...new Map([...Value.Errors(OptionsSchema, value)].map((e) => [e.path, describe(e)])).values(),
  ];
  if (problems.length > 0) throw invalid(origin, problems);
  return checked(Value.Decode(OptionsSchema, value), origin);
}

/** What the schema cannot say. */
function checked(options: RawOptions, origin: string): RawOptions {
  const { kubernetes } = options;
  const { connection } = kubernetes;
  const excluding: readonly [boolean, string][] = [
    [
      Boolean(kubernetes.watch_namespaces && kubernetes.namespace_selector),
      'kubernetes: watch_namespaces and namespace_selector exclude each other',
    ],
    [
      Boolean(kubernetes.read_only && kubernetes.published_service),
      'kubernetes: read_only and published_service exclude each other',
    ],
    [
      Boolean(connection?.in_cluster && connection.kubeconfig),
      'kubernetes.connection: in_cluster and kubeconfig exclude each other',
    ],
  ];
  const problems = [
    ...excluding.filter(([both]) => both).map(([, problem]) => problem),
    ...leaseProblems(kubernetes.leader_election),
  ];
  if (problems.length > 0) throw invalid(origin, problems);
  return options;
}

function leaseProblems(election: RawOptions['kubernetes']['leader_election']): string[] {
  const [lease, renew, retry] = [election.lease_duration, election.renew_deadline, election.retry_period].map(
    (text) => parseDuration(text) ?? 0,
  ) as [number, number, number]; // three in, three out
  const key = 'kubernetes.leader_election';
  return [
    ...(lease < 1_000 ? [`${key}.lease_duration: must be at least 1s`] : []),
    ...(renew >= lease ? [`${key}.renew_deadline: must be shorter than lease_duration`] : []),
    ...(retry * 1.2 >= renew
      ? [`${key}.retry_period: 1.2 times it must be shorter than renew_deadline`]
      : []),
  ];
}

function invalid(origin: string, problems: readonly string[]): OperatorError {
  const list = problems.map((problem) => `\n  ${problem}`).join('');
  return new OperatorError('ERR_CONFIG_INVALID', `${origin} cannot be used:${list}`);
}

function describe(error: ValueError): string {
  const path = error.path.slice(1).replaceAll('/', '.');
  if (error.type !== ValueErrorType.ObjectAdditionalProperties) {
    return `${path === '' ? 'the file' : path}: ${expectation(error)}`;
  }
  const segments = error.path.slice(1).split('/');
  const key = segments.pop() ?? '';
  const near = nearest(key, knownKeys(OptionsSchema, segments));
  return `${path}: unknown key${near === undefined ? '' : `, did you mean ${near}?`}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  duration: 'must be a duration with a unit, such as 30s or 1m30s',
  cidr: 'must be an IP address or a CIDR range',
};

function expectation({ schema, message }: ValueError): string {
  const format: unknown = schema['format'];
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  if (known !== undefined) return known;
  if (!TypeGuard.IsUnion(schema)) return message.toLowerCase();
  const literals = schema.anyOf.flatMap((each) => (TypeGuard.IsLiteral(each) ? [String(each.const)] : []));
  return literals.length > 0 ? `must be one of ${literals.join(', ')}` : message.toLowerCase();
}

function knownKeys(root: TSchema, path: readonly string[]): string[] {
  let schema: TSchema | undefined = root;
  for (const segment of path) {
    schema = schema && TypeGuard.IsObject(schema) ? memberOf(schema, segment) : undefined;
  }
  return schema && TypeGuard.IsObject(schema) ? Object.keys(schema.properties) : [];
}

function memberOf(schema: TObject, key: string): TSchema | undefined {
  const member = schema.properties[key];
  if (!member || !TypeGuard.IsRecord(member)) return member;
  return Object.values(member.patternProperties)[0];
}
