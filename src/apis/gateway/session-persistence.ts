import { Type } from '@sinclair/typebox';

import { duration, openOneOf, type Described } from '../schema.js';

/** GEP-1619. */
export const SessionPersistenceSchema = Type.Object({
  sessionName: Type.Optional(Type.String({ maxLength: 128 })),
  absoluteTimeout: Type.Optional(duration()),
  type: openOneOf(['Cookie', 'Header'], { default: 'Cookie' }),
  cookieConfig: Type.Optional(
    Type.Object({ lifetimeType: openOneOf(['Permanent', 'Session'], { default: 'Session' }) }),
  ),
});
export type SessionPersistence = Described<typeof SessionPersistenceSchema>;
