import type { DownstreamContext } from './downstream.js';
import { FieldBlock } from './fields.js';
import type { RequestHead, ResponseHead } from './heads.js';

/** How the gateway calls itself in `Via` (RFC 9110 section 7.6.3). */
export const PSEUDONYM = 'trickster-gateway';

const VIA_10 = new FieldBlock(['via', `1.0 ${PSEUDONYM}`]);
const VIA_11 = new FieldBlock(['via', `1.1 ${PSEUDONYM}`]);
const VIA_20 = new FieldBlock(['via', `2.0 ${PSEUDONYM}`]);

function viaOf(protocol: string): FieldBlock {
  if (protocol === '2.0') return VIA_20;
  return protocol === '1.0' ? VIA_10 : VIA_11;
}

let dateSecond = 0;
let dateBlock = new FieldBlock([]);

/** `Date` of this second, prepared. */
export function dateNow(): FieldBlock {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateBlock = new FieldBlock(['date', new Date(second * 1000).toUTCString()]);
  }
  return dateBlock;
}

/** Adds `Via` and what says where the request came from; the codec has removed what an untrusted client said of it. */
export function addRequestFields(head: RequestHead, context: DownstreamContext): void {
  context.addForwarded(head.fields, head.authority);
  head.fields.addBlock(viaOf(head.protocol));
}

/** Adds `Via`, and `Date` where the backend had no clock (RFC 9110 section 6.6.1). */
export function addResponseFields(head: ResponseHead): void {
  head.fields.addBlock(viaOf(head.protocol));
  if (head.status >= 200 && !head.fields.has('date')) head.fields.addBlock(dateNow());
}
