import type { SessionPersistence } from '../apis/gateway/session-persistence.js';
import { isUnsupported, writtenValue } from '../apis/unsupported-value.js';
import type { RuleFault } from './http-rule.js';

const TOKEN = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;

/** What cannot be honoured of a session persistence (GEP-1619). */
export function findSessionFault(session: SessionPersistence | undefined): RuleFault | undefined {
  if (!session) return undefined;
  const { type, cookieConfig, absoluteTimeout, sessionName } = session;
  const unknown = [type, cookieConfig?.lifetimeType].find(isUnsupported);
  if (unknown !== undefined) {
    return fault(`sessionPersistence: "${writtenValue(unknown)}" is not supported`);
  }
  if (cookieConfig && type === 'Header') {
    return fault('sessionPersistence: cookieConfig is not possible with type Header');
  }
  // A permanent cookie needs a time after which it ends.
  if (cookieConfig?.lifetimeType === 'Permanent' && absoluteTimeout === undefined) {
    return fault('sessionPersistence: lifetimeType Permanent needs absoluteTimeout');
  }
  return sessionName !== undefined && !TOKEN.test(sessionName)
    ? fault('sessionPersistence.sessionName is no token')
    : undefined;
}

function fault(cause: string): RuleFault {
  return { reason: 'UnsupportedValue', cause };
}
