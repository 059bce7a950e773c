import type { ExchangeRecord } from '../exchange/exchange-record.js';

/** Makes the line of one exchange, without line end. */
export type AccessLogFormat = (record: ExchangeRecord, time: Date) => string;

type Token = (record: ExchangeRecord, time: Date, argument: string) => string;

const COMMON = '%h - - %t "%r" %s %b';
const NAMED: Readonly<Record<string, string>> = {
  common: COMMON,
  combined: `${COMMON} "%{Referer}i" "%{User-Agent}i"`,
};

const TOKENS: Readonly<Record<string, Token>> = {
  h: ({ context }) => context.remoteAddress,
  a: ({ context }) => context.remoteAddress,
  A: ({ context }) => context.localAddress,
  p: ({ context }) => String(context.localPort),
  m: ({ originalMethod }) => originalMethod,
  U: ({ originalPath }) => originalPath.split('?', 1)[0] ?? '',
  q: ({ originalPath }) => {
    const at = originalPath.indexOf('?');
    return at < 0 ? '' : originalPath.slice(at);
  },
  H: ({ request }) => `HTTP/${request.protocol}`,
  r: ({ originalMethod, originalPath, request }) =>
    `${originalMethod} ${originalPath} HTTP/${request.protocol}`,
  v: ({ originalAuthority }) => originalAuthority,
  s: ({ status }) => String(status),
  b: ({ responseBytes }) => String(responseBytes),
  I: ({ requestBytes }) => String(requestBytes),
  D: ({ startedAt, endedAt }) => String(Math.round((endedAt - startedAt) * 1000)),
  t: (_record, time) => `[${clfTime(time)}]`,
  i: ({ request }, _time, name) => request.fields.get(name.toLowerCase()) ?? '-',
  x: (record, _time, name) => EXTENSIONS[name]?.(record) ?? '-',
};

/** Trickster's `%{…}x` tokens, and what this engine knows besides. */
const EXTENSIONS: Readonly<Record<string, (record: ExchangeRecord) => string>> = {
  'cache-status': ({ cacheResult }) => cacheResult || '-',
  engine: ({ cacheResult }) => (cacheResult === '' ? 'HTTPProxy' : 'ObjectProxyCache'),
  backend: ({ backend }) => backend?.upstream?.key ?? '-',
  endpoint: ({ endpoint }) => (endpoint ? `${endpoint.address}:${String(endpoint.port)}` : '-'),
  'path-config': ({ rule }) => (rule ? `${rule.route}/${String(rule.index)}` : '-'),
  listener: ({ context }) => context.listener,
  attempts: ({ attempts }) => String(attempts),
  termination: ({ termination }) => termination,
  detail: ({ detail }) => detail || '-',
};

/** Throws a sentence about the first token that is not known. */
export function compileAccessLogFormat(format: string): AccessLogFormat {
  if (format === 'json') return jsonLine;
  const parts: ((record: ExchangeRecord, time: Date) => string)[] = [];
  const text = NAMED[format] ?? format;
  let end = 0;
  for (const match of text.matchAll(/%(?:\{([^}]*)\})?([A-Za-z%])/g)) {
    const [token, argument = '', letter = ''] = match;
    const literal = text.slice(end, match.index);
    end = match.index + token.length;
    const value = letter === '%' ? () => '%' : tokenOf(token, letter, argument);
    parts.push((record, time) => literal + escaped(value(record, time, argument)));
  }
  const tail = text.slice(end);
  return (record, time) => parts.map((part) => part(record, time)).join('') + tail;
}

function tokenOf(token: string, letter: string, argument: string): Token {
  const value = TOKENS[letter];
  if (!value) throw new Error(`${token} is not a token of the access log`);
  if (letter === 'x' && !(argument in EXTENSIONS)) {
    throw new Error(
      `${token} is not a token of the access log; known: ${Object.keys(EXTENSIONS).join(', ')}`,
    );
  }
  return value;
}

/** Control characters and quotes come from clients: they must not break lines or fields apart. */
function escaped(value: string): string {
  return /["\\\u0000-\u001f\u007f]/.test(value) ? JSON.stringify(value).slice(1, -1) : value;
}

function jsonLine(record: ExchangeRecord, time: Date): string {
  const { context, request, rule, backend, endpoint } = record;
  return JSON.stringify({
    time: time.toISOString(),
    listener: context.listener,
    client: context.remoteAddress,
    method: record.originalMethod,
    authority: record.originalAuthority,
    path: record.originalPath,
    protocol: `HTTP/${request.protocol}`,
    status: record.status,
    requestBytes: record.requestBytes,
    responseBytes: record.responseBytes,
    durationMs: rounded(record.endedAt - record.startedAt),
    route: rule?.route,
    rule: rule?.index,
    backend: backend?.upstream?.key,
    endpoint: endpoint && `${endpoint.address}:${String(endpoint.port)}`,
    attempts: record.attempts,
    cache: record.cacheResult || undefined,
    termination: record.termination,
    detail: record.detail || undefined,
    userAgent: request.fields.get('user-agent'),
  });
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `29/Nov/2026:22:12:54 +0000` */
function clfTime(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].map(two).join(':');
  const month = MONTHS[time.getUTCMonth()] ?? '';
  return `${two(time.getUTCDate())}/${month}/${String(time.getUTCFullYear())}:${clock} +0000`;
}
