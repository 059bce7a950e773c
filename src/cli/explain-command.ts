import { stringify } from 'yaml';

import { OperatorError } from '../util/errors.js';
import { askManagement } from './ask-management.js';

export interface ExplainOptions {
  /** Base URL of the management port. */
  readonly mgmt: string;
  readonly header?: readonly string[];
  readonly output?: string;
}

/** `trickster-gateway explain`: what a running process would do with a request, and why. */
export async function explainCommand(words: readonly string[], options: ExplainOptions): Promise<string> {
  const [method = '', url = ''] = words.length > 1 ? words : ['GET', words[0] ?? ''];
  if (words.length > 2 || !URL.canParse(url)) {
    throw new OperatorError(
      'ERR_USAGE',
      'explain wants [METHOD] URL, such as GET https://shop.example.com/cart',
    );
  }
  const query = new URLSearchParams([
    ['method', method],
    ['url', url],
    ...(options.header ?? []).map((header): [string, string] => ['header', header]),
  ]);
  const answer = await askManagement(options.mgmt, `/trickster/explain?${query.toString()}`);
  return options.output === 'json' ? `${JSON.stringify(answer, undefined, 2)}\n` : stringify(answer);
}
