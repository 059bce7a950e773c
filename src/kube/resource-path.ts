/** What a kind is called on this API server. */
export interface ServedKind {
  /** `''` for core. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Where the objects of a kind live; without a namespace, those of all namespaces. */
export function collectionPath({ group, version, plural }: ServedKind, namespace = ''): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === ''
    ? `${base}/${plural}`
    : `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** Where one object lives. */
export function objectPath(kind: ServedKind, { namespace, name }: ObjectName): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

export interface ObjectName {
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** `group/version`, or `version` for core. */
export function apiVersionOf({ group, version }: Pick<ServedKind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}
