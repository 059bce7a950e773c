export interface InvolvedObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ObjectEvent {
  readonly object: InvolvedObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}
