import { STATUS_CODES } from 'node:http';
import { FieldBlock, FieldList } from './fields.js';
import { PlainResponseHead } from './heads.js';

export interface GatewayAnswer {
  readonly head: PlainResponseHead;
  readonly body: Buffer;
}

interface Prepared {
  readonly block: FieldBlock;
  readonly body: Buffer;
}

const prepared: (Prepared | undefined)[] = [];

/** The gateway's own error: the status in words as plain text, the same whatever went wrong, and never stored. */
export function gatewayAnswer(status: number): GatewayAnswer {
  const { block, body } = (prepared[status] ??= prepare(status));
  return { head: new PlainResponseHead(status, new FieldList([], block), body.length), body };
}

function prepare(status: number): Prepared {
  const body = Buffer.from(`${status} ${STATUS_CODES[status] ?? 'Error'}\n`, 'latin1');
  const block = new FieldBlock([
    'content-type',
    'text/plain; charset=utf-8',
    'content-length',
    String(body.length),
    'cache-control',
    'no-store',
  ]);
  return { block, body };
}
