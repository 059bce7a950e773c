import type { RequestRedirect } from '../../ir/http-filter.js';
import type { Exchange } from '../exchange/exchange.js';
import { FieldList } from '../exchange/fields.js';
import { PlainResponseHead } from '../exchange/heads.js';
import { ANSWERED, type RequestStep, type StepOutcome } from '../exchange/route-entry.js';
import { compilePathModifier, type PathRewrite } from './path-modifier.js';

const DEFAULT_PORT = { http: 80, https: 443 } as const;

/** Answers with a redirect; what the filter does not give comes from the request (HTTPRequestRedirectFilter). */
export class Redirect implements RequestStep {
  readonly #filter: RequestRedirect;
  readonly #rewrite: PathRewrite | undefined;

  constructor(filter: RequestRedirect) {
    this.#filter = filter;
    this.#rewrite = filter.path && compilePathModifier(filter.path);
  }

  run(exchange: Exchange): StepOutcome {
    const fields = new FieldList(['location', this.#location(exchange), 'content-length', '0']);
    exchange.answer(new PlainResponseHead(this.#filter.status, fields, 0));
    return ANSWERED;
  }

  #location({ request, route, context }: Exchange): string {
    const filter = this.#filter;
    const scheme = filter.scheme ?? request.scheme;
    const host = filter.hostname ?? request.hostname;
    // Given port; else the well-known port of a given scheme; else the port of the listener.
    const port = filter.port ?? (filter.scheme ? DEFAULT_PORT[filter.scheme] : context.localPort);
    const authority = port === DEFAULT_PORT[scheme] ? host : `${host}:${port}`;
    const path = this.#rewrite?.(request.path, request.queryStart, route?.matchedPrefix) ?? request.path;
    return `${scheme}://${authority}${path.startsWith('/') ? path : '/'}`;
  }
}
