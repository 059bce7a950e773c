import { Type } from '@sinclair/typebox';

import { headerName, headerValue, mapList, setList, type Described } from '../schema.js';
import { BackendObjectReferenceSchema } from './references.js';

const headers = () =>
  Type.Optional(
    mapList(Type.Object({ name: headerName(), value: headerValue() }), ['name'], { maxItems: 16 }),
  );

/** RequestHeaderModifier and ResponseHeaderModifier. */
export const HeaderModifierSchema = Type.Object({
  set: headers(),
  add: headers(),
  remove: Type.Optional(setList(Type.String(), { maxItems: 16 })),
});
export type HeaderModifier = Described<typeof HeaderModifierSchema>;

/** Neither `percent` nor `fraction`: everything is mirrored. */
export const RequestMirrorSchema = Type.Object({
  backendRef: BackendObjectReferenceSchema,
  percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  fraction: Type.Optional(
    Type.Object({
      numerator: Type.Integer({ minimum: 0 }),
      denominator: Type.Integer({ minimum: 1, default: 100 }),
    }),
  ),
});
export type RequestMirror = Described<typeof RequestMirrorSchema>;
