import type { Exchange } from './exchange.js';
import type { ResponseHead } from './heads.js';
import type { ResponseStep } from './route-entry.js';

/** Lets steps change the head of a response, except for what frames its message: that is not for filters to say. */
export function runResponseSteps(
  steps: readonly ResponseStep[],
  exchange: Exchange,
  head: ResponseHead,
): void {
  if (steps.length === 0) return;
  for (const step of steps) step.run(exchange, head);
  const { contentLength, fields } = head;
  const said = fields.get('content-length');
  if (said === undefined) return;
  if (contentLength < 0) fields.remove('content-length');
  else if (said !== String(contentLength)) fields.set('content-length', String(contentLength));
}
