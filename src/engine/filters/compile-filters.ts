/**
 * What the filters of a rule or backendRef do to a request and its answer, as flat lists of steps.
 *
 * In: the IR's filters and what they need from the engine. Out: steps that the exchange runs. Made once per rule;
 * a rule without filters has empty lists. Steps know heads, never a codec, and do no I/O but through
 * {@link FilterServices}.
 *
 * Request steps run in the order of the filters, except that CORS comes first: a preflight has to be answered before
 * a redirect or an authorisation could, which browsers would take for a refusal (F-08).
 */
import type { CachePolicy } from '../../ir/cache-policy.js';
import type { ExternalAuth, HttpFilter } from '../../ir/http-filter.js';
import { ANSWERED, type RequestStep, type ResponseStep } from '../exchange/route-entry.js';
import type { UpstreamTarget } from '../exchange/upstream.js';
import { CorsPolicy } from './cors.js';
import type { CompiledAuthorization } from './external-auth/external-auth.js';
import { HeaderOperations, modifierOperations } from './header-operations.js';
import { Mirror, type MirrorSender } from './mirror.js';
import { Redirect } from './redirect.js';
import { compileUrlRewrite } from './url-rewrite.js';

export interface CompiledFilters {
  readonly requestSteps: readonly RequestStep[];
  readonly responseSteps: readonly ResponseStep[];
}

/** What filters need from the engine. */
export interface FilterServices {
  /** The upstream of a key; undefined when the configuration has none. */
  readonly upstream: (key: string) => UpstreamTarget | undefined;
  readonly mirror: MirrorSender;
  /** Makes the steps that ask another service; the filter's own `upstream` is given resolved. */
  readonly authorize: (filter: ExternalAuth, upstream: UpstreamTarget) => CompiledAuthorization;
}

export const NO_FILTERS: CompiledFilters = { requestSteps: [], responseSteps: [] };

export function compileFilters(filters: readonly HttpFilter[], services: FilterServices): CompiledFilters {
  if (filters.length === 0) return NO_FILTERS;
  const corsFirst = filters.toSorted((a, b) => Number(b.type === 'cors') - Number(a.type === 'cors'));
  const compiled = corsFirst.map((filter) => compileFilter(filter, services));
  return {
    requestSteps: compiled.flatMap(({ requestSteps }) => requestSteps),
    responseSteps: compiled.flatMap(({ responseSteps }) => responseSteps),
  };
}

function compileFilter(filter: HttpFilter, services: FilterServices): CompiledFilters {
  switch (filter.type) {
    case 'request-headers':
      return onRequest(modifierOperations(filter).asRequestStep());
    case 'response-headers':
      return { requestSteps: [], responseSteps: [modifierOperations(filter)] };
    case 'redirect':
      return onRequest(new Redirect(filter));
    case 'rewrite':
      return onRequest(compileUrlRewrite(filter));
    case 'cors': {
      const cors = new CorsPolicy(filter);
      return { requestSteps: [cors.requestStep], responseSteps: [cors.responseStep] };
    }
    case 'mirror': {
      const upstream = resolve(filter.upstream, services);
      return upstream ? onRequest(new Mirror(filter, upstream, services.mirror)) : NO_FILTERS;
    }
    case 'external-auth': {
      const upstream = resolve(filter.upstream, services);
      // GEP-1494: what cannot be asked denies.
      if (!upstream) return onRequest(DENY);
      const { requestStep, responseStep } = services.authorize(filter, upstream);
      return { requestSteps: [requestStep], responseSteps: responseStep ? [responseStep] : [] };
    }
  }
}

function onRequest(step: RequestStep): CompiledFilters {
  return { requestSteps: [step], responseSteps: [] };
}

function resolve(key: string | undefined, services: FilterServices): UpstreamTarget | undefined {
  return key === undefined ? undefined : services.upstream(key);
}

const DENY: RequestStep = {
  run: (exchange) => {
    exchange.refuse(500, 'the external authorization service of the rule cannot be resolved');
    return ANSWERED;
  },
};

/**
 * The header operations of a policy as steps. The response operations of a caching policy are not among them: the
 * cache applies them itself, before it decides what to store.
 */
export function compilePolicyHeaders(policy: CachePolicy): CompiledFilters {
  const { requestHeaders, responseHeaders } = policy;
  const responseSteps: ResponseStep[] = [];
  if (policy.handler === 'proxy') {
    if (responseHeaders.length > 0) responseSteps.push(new HeaderOperations(responseHeaders));
    if (policy.resultHeader === 'expose') responseSteps.push(PROXY_ONLY);
  }
  return {
    requestSteps: requestHeaders.length > 0 ? [new HeaderOperations(requestHeaders).asRequestStep()] : [],
    responseSteps,
  };
}

const PROXY_ONLY: ResponseStep = {
  run: (_exchange, head) => {
    head.fields.set('x-trickster-result', 'engine=HTTPProxy; status=proxy-only');
  },
};
