import { Type } from '@sinclair/typebox';

import { duration, oneOf, type Described } from '../schema.js';

/** GEP-1619. */
export const SessionPersistenceSchema = Type.Object({
  sessionName: Type.Optional(Type.String({ maxLength: 128 })),
  absoluteTimeout: Type.Optional(duration()),
  type: oneOf(['Cookie', 'Header'], { default: 'Cookie' }),
  cookieConfig: Type.Optional(
    Type.Object({ lifetimeType: oneOf(['Permanent', 'Session'], { default: 'Session' }) }),
  ),
});
export type SessionPersistence = Described<typeof SessionPersistenceSchema>;
