import type { ExternalAuth } from '../../../ir/http-filter.js';
import type { RequestStep, ResponseStep } from '../../exchange/route-entry.js';
import type { TimerWheel } from '../../exchange/timer-wheel.js';
import type { UpstreamTarget } from '../../exchange/upstream.js';
import { GrpcAuthorization } from './grpc-authorization.js';
import { HttpAuthorization } from './http-authorization.js';

export interface CompiledAuthorization {
  readonly requestStep: RequestStep;
  /** What the service may add to the response. */
  readonly responseStep?: ResponseStep;
}

/** The steps of an ExternalAuth filter (GEP-1494). Whatever goes wrong denies. */
export function compileExternalAuth(
  filter: ExternalAuth,
  upstream: UpstreamTarget,
  wheel: TimerWheel,
): CompiledAuthorization {
  if (filter.protocol === 'http') return { requestStep: new HttpAuthorization(filter, upstream, wheel) };
  const requestStep = new GrpcAuthorization(filter, upstream, wheel);
  return { requestStep, responseStep: requestStep.responseStep };
}
