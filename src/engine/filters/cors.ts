import type { Cors } from '../../ir/http-filter.js';
import type { Exchange } from '../exchange/exchange.js';
import { FieldList, type Fields } from '../exchange/fields.js';
import { PlainResponseHead, type RequestHead } from '../exchange/heads.js';
import {
  ANSWERED,
  CONTINUE,
  type RequestStep,
  type ResponseStep,
  type StepOutcome,
} from '../exchange/route-entry.js';
import { compileOrigins, type OriginTest } from './origin-pattern.js';

const OURS = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-expose-headers',
  'access-control-max-age',
] as const;

/** A preflight: `OPTIONS` with `Origin` and `Access-Control-Request-Method` (Fetch §3.2.2). */
export function isPreflight({ method, fields }: RequestHead): boolean {
  return method === 'OPTIONS' && fields.has('origin') && fields.has('access-control-request-method');
}

/**
 * HTTPCORSFilter. Preflights are answered here and never forwarded; other requests are forwarded whatever their
 * origin, and the answer's CORS fields are ours alone.
 */
export class CorsPolicy {
  readonly #cors: Cors;
  readonly #permits: OriginTest;
  /** Every origin gets the same answer: `*`. */
  readonly #anyOrigin: boolean;
  readonly #methods: string;
  readonly #headers: string;
  readonly #expose: string;

  constructor(cors: Cors) {
    this.#cors = cors;
    this.#permits = compileOrigins(cors.allowOrigins);
    this.#anyOrigin = cors.allowOrigins.includes('*') && !cors.allowCredentials;
    this.#methods = listOf(cors.allowMethods);
    this.#headers = listOf(cors.allowHeaders);
    this.#expose = listOf(cors.exposeHeaders);
  }

  /** Answers preflights. */
  readonly requestStep: RequestStep = {
    run: (exchange) => (isPreflight(exchange.request) ? this.#answerPreflight(exchange) : CONTINUE),
  };

  /** Marks the answers to other requests. */
  readonly responseStep: ResponseStep = {
    run: ({ request }, head) => {
      this.#decorate(request, head.fields);
    },
  };

  #answerPreflight(exchange: Exchange): StepOutcome {
    const { fields } = exchange.request;
    const answer = new FieldList();
    const origin = fields.get('origin');
    if (this.#allowOrigin(origin, answer)) {
      // With credentials `*` is no wildcard (Fetch §3.2.5), so what was asked for is echoed.
      addUnlessEmpty(
        answer,
        'access-control-allow-methods',
        echo(this.#methods, fields, 'access-control-request-method'),
      );
      addUnlessEmpty(
        answer,
        'access-control-allow-headers',
        echo(this.#headers, fields, 'access-control-request-headers'),
      );
      if (this.#expose !== '*' || !this.#cors.allowCredentials) {
        addUnlessEmpty(answer, 'access-control-expose-headers', this.#expose);
      }
      answer.add('access-control-max-age', String(this.#cors.maxAgeSeconds));
    }
    answer.add('vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
    exchange.answer(new PlainResponseHead(204, answer, 0));
    return ANSWERED;
  }

  #decorate(request: RequestHead, fields: Fields): void {
    for (const name of OURS) fields.remove(name);
    if (!this.#anyOrigin) addVary(fields, 'Origin');
    if (!this.#allowOrigin(request.fields.get('origin'), fields)) return;
    const expose = this.#expose === '*' && this.#cors.allowCredentials ? namesOf(fields) : this.#expose;
    addUnlessEmpty(fields, 'access-control-expose-headers', expose);
  }

  #allowOrigin(origin: string | undefined, fields: Fields): boolean {
    if (origin === undefined || !this.#permits(origin)) return false;
    fields.add('access-control-allow-origin', this.#anyOrigin ? '*' : origin);
    if (this.#cors.allowCredentials) fields.add('access-control-allow-credentials', 'true');
    return true;
  }
}

function listOf(values: readonly string[]): string {
  return values.includes('*') ? '*' : values.join(', ');
}

function echo(configured: string, request: Fields, name: string): string {
  return configured === '*' ? request.getAll(name).join(', ') : configured;
}

function addUnlessEmpty(fields: Fields, name: string, value: string): void {
  if (value !== '') fields.add(name, value);
}

function addVary(fields: Fields, name: string): void {
  const present = fields.getAll('vary').join(',').toLowerCase();
  const names = present.split(',').map((each) => each.trim());
  if (!names.includes(name.toLowerCase()) && !names.includes('*')) fields.add('vary', name);
}

function namesOf(fields: Fields): string {
  const names = new Set<string>();
  fields.forEach((name) => names.add(name));
  for (const name of [...OURS, 'set-cookie']) names.delete(name);
  return [...names].join(', ');
}
