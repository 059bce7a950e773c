import type { Kind } from '../apis/kinds.js';
import type { KubernetesObject } from '../apis/meta.js';
import type { ObjectRef } from './status-plan.js';

export function objectRefOf(kind: Kind, { metadata }: KubernetesObject): ObjectRef {
  const { namespace = '', name, uid = '' } = metadata;
  return { kind, namespace, name, uid };
}
