import { isAuthority } from './authority.js';
import { normalisePath } from './normalise-path.js';
import type { RawRequestHead } from './raw-heads.js';

const SLASH = 0x2f;
/** Marks of the character table: a percent sign, a dot. */
const NEEDS_LOOK = 2 | 4;

/** The authority that was found good last: most requests of a worker come in runs for one host. */
let lastGood = '';

/**
 * Brings target and `Host` into their one form (RFC 9112 section 3.2). Answers 0 or the status to refuse with, and
 * writes `head.problem`.
 */
export function resolveTarget(head: RawRequestHead, marks: number, hasHost: boolean): number {
  if (hasHost) {
    const { authority } = head;
    if (authority !== lastGood) {
      if (!isAuthority(authority)) return fault(head, 'Host is malformed');
      lastGood = authority;
    }
  }
  if (head.method === 'CONNECT') return fault(head, 'CONNECT is not served');
  if (head.buffer[head.targetStart] !== SLASH) return resolveOtherForm(head);
  return (marks & NEEDS_LOOK) === 0 ? 0 : normalise(head, head.path);
}

function normalise(head: RawRequestHead, target: string): number {
  if (!target.includes('%') && !target.includes('/.')) return 0;
  const result = normalisePath(target);
  if ('problem' in result) return fault(head, result.problem);
  if (result.path !== head.path) head.path = result.path;
  return 0;
}

function resolveOtherForm(head: RawRequestHead): number {
  const target = head.path;
  if (target === '*') return head.method === 'OPTIONS' ? 0 : fault(head, 'the target * is for OPTIONS only');
  const absolute = /^(https?):\/\/([^/?]*)(.*)$/i.exec(target);
  if (!absolute) return fault(head, 'the request target is malformed');
  const [, scheme = '', authority = '', rest = ''] = absolute;
  if (!isAuthority(authority)) return fault(head, 'the authority of the target is malformed');
  // RFC 9110 section 7.4: not ours to answer on a connection that was not secured for it.
  if (scheme.toLowerCase() === 'https' && head.scheme !== 'https') {
    head.problem = 'the target asks for https on a clear connection';
    return 421;
  }
  // RFC 9112 section 3.2.2: it beats Host, and a new Host is made of it.
  head.authority = authority;
  head.path = rest.startsWith('/') ? rest : `/${rest}`;
  return normalise(head, head.path);
}

function fault(head: RawRequestHead, problem: string): number {
  head.problem = problem;
  return 400;
}
