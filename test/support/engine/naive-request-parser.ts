/**
 * What a request head means, by RFC 9110 and 9112 and the rules of the gateway, said as plainly as possible: whole
 * texts, regular expressions, no thought of speed. The oracle of the real parser.
 */
export interface NaiveRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly contentLength: number;
  readonly close: boolean;
  readonly upgrade: string;
  readonly expectContinue: boolean;
  readonly acceptsTrailers: boolean;
  /** name, value, …: what is passed on. */
  readonly fields: readonly string[];
}

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const NEVER = new Set(
  (
    'host transfer-encoding connection upgrade te expect keep-alive proxy-connection proxy-authenticate ' +
    'proxy-authorization proxy-authentication-info trailer http2-settings x-trickster-result cache-status'
  ).split(' '),
);
const FORWARDED = new Set(
  (
    'forwarded x-forwarded-for x-forwarded-proto x-forwarded-host x-forwarded-port x-forwarded-server ' +
    'x-real-ip'
  ).split(' '),
);
const ESSENTIAL = new Set(['host', 'content-length', 'transfer-encoding', 'te']);

interface Field {
  readonly name: string;
  readonly value: string;
}

/** Undefined: it must be refused. `text` is latin-1 and holds a whole head of an untrusted client without TLS. */
export function parseNaively(text: string): NaiveRequest | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [requestLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const line = lineOf(requestLine);
  const fields = lines.flatMap((one) => fieldOf(one) ?? []);
  const isGood = line && fields.length <= 100 && fields.length === lines.length;
  return isGood ? meaningOf(line, fields) : undefined;
}

function meaningOf(line: RequestLine, fields: readonly Field[]): NaiveRequest | undefined {
  const length = lengthOf(fields, line.minor);
  const options = optionsOf(fields);
  const place = placeOf(line, valuesOf(fields, 'host'));
  const expect = expectationOf(fields);
  if (length === undefined || !options || !place || expect === undefined) return undefined;
  const isModern = line.minor === '1';
  return {
    method: line.method,
    ...place,
    contentLength: length,
    close: options.has('close') || !(isModern || options.has('keep-alive')),
    upgrade: isModern && length === 0 ? upgradeOf(fields, options) : '',
    expectContinue: expect && isModern && length !== 0,
    acceptsTrailers: valuesOf(fields, 'te').some((te) => te.split(/[,;\s]/).includes('trailers')),
    fields: fields.filter(({ name }) => isPassed(name, options)).flatMap(({ name, value }) => [name, value]),
  };
}

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly minor: string;
}

function lineOf(text: string): RequestLine | undefined {
  const parts = /^([^ ]{1,32}) ([!-~]+) HTTP\/1\.([01])$/.exec(text);
  const [, method = '', target = '', minor = ''] = parts ?? [];
  const isGood = TOKEN.test(method) && !/[#\\]/.test(target) && method !== 'CONNECT';
  return isGood ? { method, target, minor } : undefined;
}

/** Whether the client waits; undefined: it expects something else. */
function expectationOf(fields: readonly Field[]): boolean | undefined {
  const expects = valuesOf(fields, 'expect').at(-1)?.toLowerCase() ?? '';
  if (expects === '') return false;
  return expects === '100-continue' ? true : undefined;
}

function fieldOf(line: string): Field | undefined {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
  return TOKEN.test(name) && /^[\t -~\x80-\xff]*$/.test(value)
    ? { name: name.toLowerCase(), value }
    : undefined;
}

function valuesOf(fields: readonly Field[], name: string): readonly string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value);
}

/** -1: chunked. */
function lengthOf(fields: readonly Field[], minor: string): number | undefined {
  const lengths = valuesOf(fields, 'content-length');
  const codings = valuesOf(fields, 'transfer-encoding');
  if (lengths.length + codings.length > 1) return undefined;
  if (codings.length === 1) {
    return codings[0]?.toLowerCase() === 'chunked' && minor === '1' ? -1 : undefined;
  }
  const [length = '0'] = lengths;
  return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

function optionsOf(fields: readonly Field[]): ReadonlySet<string> | undefined {
  const options = valuesOf(fields, 'connection')
    .flatMap((value) => value.split(','))
    .map((option) => option.trim().toLowerCase())
    .filter((option) => option !== '');
  return options.every((option) => TOKEN.test(option)) ? new Set(options) : undefined;
}

interface Place {
  readonly path: string;
  readonly authority: string;
}

function placeOf({ method, target, minor }: RequestLine, hosts: readonly string[]): Place | undefined {
  const isCounted = hosts.length === 1 || (hosts.length === 0 && minor === '0');
  if (!isCounted || !hosts.every(isAuthority)) return undefined;
  const [host = ''] = hosts;
  if (target === '*') return method === 'OPTIONS' ? { path: '*', authority: host } : undefined;
  return target.startsWith('/') ? placed(target, host) : placeOfAbsolute(target);
}

function placeOfAbsolute(target: string): Place | undefined {
  const [, authority = '', rest = ''] = /^http:\/\/([^/?]*)(.*)$/i.exec(target) ?? [];
  return isAuthority(authority) ? placed(rest.startsWith('/') ? rest : `/${rest}`, authority) : undefined;
}

function placed(target: string, authority: string): Place | undefined {
  const path = normalise(target);
  return path === undefined ? undefined : { path, authority };
}

/** Without the comma, which a server that joins repeated fields would have put there. */
function isAuthority(text: string): boolean {
  return /^(\[[0-9a-fA-F:.]{2,}\]|[A-Za-z0-9\-._~!$&'()*+;=%]+)(:\d{0,5})?$/.test(text);
}

function normalise(target: string): string | undefined {
  const [path = '', ...query] = target.split('?');
  if (/%(?![0-9a-fA-F]{2})/.test(path) || path.includes('%00')) return undefined;
  const decoded = path.replace(/%([0-9a-fA-F]{2})/g, (escape, digits: string) => {
    const character = String.fromCharCode(parseInt(digits, 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : escape;
  });
  const hidden = decoded.split(/\/|%5c|%2f/i);
  if (/%5c/i.test(decoded) && (hidden.includes('.') || hidden.includes('..'))) return undefined;
  const kept: string[] = [];
  for (const segment of decoded.slice(1).split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  if (/\/\.\.?$/.test(decoded)) kept.push('');
  return ['/' + kept.join('/'), ...query].join('?');
}

function upgradeOf(fields: readonly Field[], options: ReadonlySet<string>): string {
  const [protocol = '', ...more] = valuesOf(fields, 'upgrade').map((value) => value.toLowerCase());
  if (more.length > 0 || protocol === 'h2c') return '';
  return options.has('upgrade') && /^[a-z0-9!#$%&'*+.^_`|~/-]+$/.test(protocol) ? protocol : '';
}

function isPassed(name: string, options: ReadonlySet<string>): boolean {
  if (NEVER.has(name) || FORWARDED.has(name)) return false;
  if (options.has(name) && !ESSENTIAL.has(name)) return false;
  // Only a name that is disguised is undone: `_` for `-`.
  const plain = name.replaceAll('_', '-');
  return !(
    name.includes('_') &&
    (FORWARDED.has(plain) || plain === 'x-trickster-result' || plain === 'cache-status')
  );
}
