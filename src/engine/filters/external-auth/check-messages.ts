import { isUtf8 } from 'node:buffer';
import type { Exchange } from '../../exchange/exchange.js';
import { lastOf, ProtoWriter, readMessage, type ProtoField } from './protobuf.js';

/**
 * The messages of `envoy.service.auth.v3.Authorization/Check`, which GEP-1494 takes for authorization over gRPC: the
 * few fields of them that are meant here. Numbers are those of the protocol's definition.
 */

/** A field that the service wants on the request or on the response. */
export interface HeaderChange {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
  readonly action: HeaderAction;
}

/** What becomes of values that are there already. */
export type HeaderAction = 'append' | 'add-if-absent' | 'overwrite' | 'overwrite-if-exists';

export interface Allowance {
  readonly allowed: true;
  readonly requestHeaders: readonly HeaderChange[];
  readonly requestHeadersToRemove: readonly string[];
  readonly responseHeaders: readonly HeaderChange[];
}

export interface Denial {
  readonly allowed: false;
  readonly status: number;
  readonly headers: readonly HeaderChange[];
  readonly body: Buffer;
}

/** `service.auth.v3.CheckRequest` about a request, with the fields that may be told. */
export function encodeCheckRequest(
  exchange: Exchange,
  headers: Iterable<readonly [string, string]>,
  body: Buffer | undefined,
): Buffer {
  const { context, request } = exchange;
  const http = new ProtoWriter().text(2, request.method);
  for (const [name, value] of headers) {
    http.message(3, new ProtoWriter().text(1, name).bytes(2, utf8Of(value)));
  }
  http.text(4, request.path).text(5, request.authority).text(6, request.scheme);
  // -1 where it is not known, as the protocol wants it.
  http
    .number(9, request.contentLength)
    .text(10, request.protocol === '2.0' ? 'HTTP/2' : `HTTP/${request.protocol}`);
  // A protobuf string is UTF-8; anything else has a field of its own.
  if (body) http.bytes(isUtf8(body) ? 11 : 12, body);
  const attributes = new ProtoWriter()
    .message(1, peer(context.remoteAddress, context.remotePort))
    .message(2, peer(context.localAddress, context.localPort))
    .message(4, new ProtoWriter().message(2, http));
  return new ProtoWriter().message(1, attributes).finish();
}

/** `AttributeContext.Peer` with a `core.v3.SocketAddress`. */
function peer(address: string, port: number): ProtoWriter {
  const socket = new ProtoWriter().text(2, address).number(3, port);
  return new ProtoWriter().message(1, new ProtoWriter().message(1, socket));
}

/** Values of fields are latin-1 text; most of what is not ASCII in them was UTF-8. */
function utf8Of(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes : Buffer.from(value, 'utf8');
}

/**
 * Reads a `service.auth.v3.CheckResponse`; undefined when it is none, or wants what cannot be done. Only an answer
 * that says OK allows: one that says nothing does not.
 */
export function decodeCheckResponse(bytes: Buffer): Allowance | Denial | undefined {
  const fields = readMessage(bytes);
  if (!fields) return undefined;
  const status = messageIn(fields, 1);
  const denied = messageIn(fields, 2);
  const ok = messageIn(fields, 3);
  if (status === 'broken' || denied === 'broken' || ok === 'broken') return undefined;
  const saysOk = status ? numberIn(status, 1) === 0 : ok !== undefined;
  return saysOk && !denied ? allowance(ok ?? []) : denial(denied ?? []);
}

function allowance(ok: readonly ProtoField[]): Allowance | undefined {
  // Changes of the query are not made: a request that should have been narrowed must not go on as it was.
  if (ok.some(({ field }) => field === 7 || field === 8)) return undefined;
  const requestHeaders = changesIn(ok, 2, 'overwrite');
  const responseHeaders = changesIn(ok, 6, 'append');
  if (!requestHeaders || !responseHeaders) return undefined;
  const requestHeadersToRemove = ok
    .filter(({ field }) => field === 5)
    .map(({ bytes }) => textOf(bytes).toLowerCase());
  return { allowed: true, requestHeaders, requestHeadersToRemove, responseHeaders };
}

function denial(denied: readonly ProtoField[]): Denial | undefined {
  const status = messageIn(denied, 1);
  const headers = changesIn(denied, 2, 'overwrite');
  if (status === 'broken' || !headers) return undefined;
  const code = numberIn(status ?? [], 1);
  return {
    allowed: false,
    // What denies must not look like an answer that the client hoped for.
    status: code >= 300 && code <= 599 && code !== 304 ? code : 403,
    headers,
    body: bytesIn(denied, 3) ?? EMPTY,
  };
}

/** `repeated core.v3.HeaderValueOption`. The definition of each list says what is done when an option does not. */
function changesIn(
  fields: readonly ProtoField[],
  field: number,
  usual: HeaderAction,
): readonly HeaderChange[] | undefined {
  const changes: HeaderChange[] = [];
  for (const one of fields) {
    if (one.field !== field) continue;
    const change = one.bytes && changeOf(one.bytes, usual);
    if (!change) return undefined;
    changes.push(change);
  }
  return changes;
}

function changeOf(bytes: Buffer, usual: HeaderAction): HeaderChange | undefined {
  const option = readMessage(bytes) ?? [];
  const header = messageIn(option, 1);
  const append = messageIn(option, 2);
  if (!header || header === 'broken' || append === 'broken') return undefined;
  const name = textOf(bytesIn(header, 1)).toLowerCase();
  const value = (bytesIn(header, 3) ?? bytesIn(header, 2) ?? EMPTY).toString('latin1').trim();
  if (!NAME.test(name) || !isValue(value)) return undefined;
  return { name, value, action: actionOf(append, numberIn(option, 3), usual) };
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const EMPTY = Buffer.alloc(0);

function isValue(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x7f || (code < 0x20 && code !== 0x09)) return false;
  }
  return true;
}

const ACTIONS: readonly (HeaderAction | undefined)[] = [
  undefined,
  'add-if-absent',
  'overwrite',
  'overwrite-if-exists',
];

/** `append` is older than `append_action`, whose 0 cannot be told from its absence. */
function actionOf(
  append: readonly ProtoField[] | undefined,
  action: number,
  usual: HeaderAction,
): HeaderAction {
  if (append) return numberIn(append, 1) === 1 ? 'append' : 'overwrite';
  return ACTIONS[action] ?? usual;
}

function messageIn(
  fields: readonly ProtoField[],
  field: number,
): readonly ProtoField[] | 'broken' | undefined {
  const found = lastOf(fields, field);
  return found && ((found.bytes && readMessage(found.bytes)) ?? 'broken');
}

function numberIn(fields: readonly ProtoField[], field: number): number {
  return lastOf(fields, field)?.number ?? 0;
}

function bytesIn(fields: readonly ProtoField[], field: number): Buffer | undefined {
  return lastOf(fields, field)?.bytes;
}

function textOf(bytes: Buffer | undefined): string {
  return bytes?.toString('utf8') ?? '';
}
