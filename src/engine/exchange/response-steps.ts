import type { Exchange } from './exchange.js';
import type { ResponseHead } from './heads.js';
import type { BackendEntry, ResponseStep, RuleEntry } from './route-entry.js';

/** An exchange whose way is known. */
interface RoutedExchange extends Exchange {
  readonly rule: RuleEntry | undefined;
  readonly backend: BackendEntry | undefined;
}

/** Whether {@link applyResponseSteps} may change a head. */
export function changesResponses({ backend, rule }: RoutedExchange): boolean {
  if (backend && backend.responseSteps.length > 0) return true;
  return rule !== undefined && (rule.responseSteps.length > 0 || rule.affinity !== undefined);
}

/** Makes the head of a response what backend, rule and session persistence, in this order, want it to be. */
export function applyResponseSteps(exchange: RoutedExchange, head: ResponseHead): void {
  const { backend, rule } = exchange;
  if (backend) run(backend.responseSteps, exchange, head);
  if (!rule) return;
  run(rule.responseSteps, exchange, head);
  rule.affinity?.remember(exchange, head);
}

/** Steps may change everything except for what frames the message: that is not for filters to say. */
function run(steps: readonly ResponseStep[], exchange: Exchange, head: ResponseHead): void {
  if (steps.length === 0) return;
  for (const step of steps) step.run(exchange, head);
  const { contentLength, fields } = head;
  if (contentLength < 0) fields.remove('content-length');
  else if (!fields.isExactly('content-length', String(contentLength)) && fields.has('content-length'))
    fields.set('content-length', String(contentLength));
}
