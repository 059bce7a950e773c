import { STATIC_FIELDS, STATIC_LENGTH } from './static-table.js';

/** How a field is put: RFC 7541 §6.2. */
export const ADAPTIVE = 0;
export const EAGER = 1;
export const PLAIN = 2;
export const NEVER = 3;

/** Names whose values are unique: looking for them in the table is of no use. */
const PLAIN_NAMES =
  'x-request-id traceparent tracestate grpc-message grpc-timeout grpc-status-details-bin range';
/** Names of few values: indexed when first seen. */
const EAGER_NAMES =
  ':authority user-agent content-type content-encoding accept accept-encoding accept-language cache-control ' +
  'server vary via te grpc-encoding grpc-accept-encoding grpc-status x-forwarded-proto x-forwarded-host ' +
  'x-forwarded-port x-forwarded-for';
/** RFC 7541 §7.1.3: credentials stay out of a table that a guess could probe. */
const NEVER_NAMES = 'authorization proxy-authorization cookie set-cookie';

/** What is known of a field name, on every connection. */
export interface HeaderName {
  /** In lower case. */
  readonly text: string;
  /** Index of the name in the static table, 0 for none. */
  readonly staticName: number;
  readonly staticValues: ReadonlyMap<string, number>;
  readonly policy: number;
  /** Number of a name that every connection knows, or -1. */
  readonly id: number;
}

const KNOWN = knownNames();
const NO_VALUES: ReadonlyMap<string, number> = new Map();

function knownNames(): ReadonlyMap<string, HeaderName> {
  const policies = new Map<string, number>();
  for (const [names, policy] of [
    [PLAIN_NAMES, PLAIN],
    [EAGER_NAMES, EAGER],
    [NEVER_NAMES, NEVER],
  ] as const) {
    for (const name of names.split(' ')) policies.set(name, policy);
  }
  const known = new Map<string, HeaderName & { staticValues: Map<string, number> }>();
  for (let index = 1; index <= STATIC_LENGTH; index++) {
    const text = STATIC_FIELDS[index * 2] ?? '';
    const value = STATIC_FIELDS[index * 2 + 1] ?? '';
    const entry = known.get(text);
    if (entry) entry.staticValues.set(value, index);
    else {
      const policy = policies.get(text) ?? ADAPTIVE;
      const staticValues = new Map(value === '' ? [] : [[value, index]]);
      known.set(text, { text, staticName: index, staticValues, policy, id: known.size });
    }
  }
  for (const [text, policy] of policies) {
    if (!known.has(text))
      known.set(text, { text, staticName: 0, staticValues: new Map(), policy, id: known.size });
  }
  return known;
}

/** @param text in lower case. */
export function headerName(text: string): HeaderName {
  return KNOWN.get(text) ?? { text, staticName: 0, staticValues: NO_VALUES, policy: ADAPTIVE, id: -1 };
}
