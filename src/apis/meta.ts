/** The parts of Kubernetes' meta/v1 that are read, and the Condition that is written. */
export interface ObjectMeta {
  readonly name: string;
  /** Absent on cluster-scoped kinds. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What every object has. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase. */
  readonly reason: string;
  /** One sentence that names the object and field at fault; at most 32 KiB. */
  readonly message: string;
}

/** A condition as it stands in a status: translation knows the generation, the writer the time. */
export interface StoredCondition extends Condition {
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of every map of objects. */
export function keyOf(object: KubernetesObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
