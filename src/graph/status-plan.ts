import type { Kind } from '../apis/kinds.js';
import type { Condition } from '../apis/meta.js';

/**
 * What the status of every object we own should say, as translation sees it: `Programmed` is as if every listener
 * could be opened. The apply result of the engine is laid over it before anything is written.
 */
export type StatusPlan = readonly PlannedStatus[];

/** The status of one object. Sorted by kind, namespace, name in the plan; the same object while nothing changed. */
export interface PlannedStatus {
  readonly object: ObjectRef;
  /** The generation that was translated: the status may be written onto no other. */
  readonly generation: number;
  readonly status: DesiredStatus;
}

export interface ObjectRef {
  readonly kind: Kind;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type DesiredStatus =
  GatewayClassStatus | GatewayStatus | ListenerSetStatus | RouteStatus | PolicyStatus;

export interface GatewayClassStatus {
  readonly shape: 'gatewayclass';
  readonly conditions: readonly Condition[];
  /** Sorted. */
  readonly supportedFeatures: readonly string[];
}

export interface GatewayStatus {
  readonly shape: 'gateway';
  readonly conditions: readonly Condition[];
  readonly addresses: readonly StatusAddress[];
  readonly listeners: readonly ListenerStatus[];
  /** Absent when the field is not to be written (the ListenerSet CRD is not installed). */
  readonly attachedListenerSets?: number;
}

export interface ListenerSetStatus {
  readonly shape: 'listenerset';
  readonly conditions: readonly Condition[];
  readonly listeners: readonly ListenerStatus[];
}

export interface StatusAddress {
  readonly type: 'IPAddress' | 'Hostname';
  readonly value: string;
}

export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
  /** Keys of the IR listeners (sockets) that carry it; when one cannot be opened it is not programmed. */
  readonly sockets: readonly string[];
}

/** `status.parents[]`; entries of other controllers are kept. */
export interface RouteStatus {
  readonly shape: 'route';
  readonly parents: readonly ParentStatus[];
}

/** `parentRef` is copied from the spec with group, kind and namespace filled in. */
export interface ParentStatus {
  readonly parentRef: ParentReference;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface ParentReference {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** `status.ancestors[]`; entries of other controllers are kept. */
export interface PolicyStatus {
  readonly shape: 'policy';
  readonly ancestors: readonly AncestorStatus[];
}

export interface AncestorStatus {
  readonly ancestorRef: ParentReference;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

/** A Kubernetes Event to record when it first appears; it is not repeated while it stays in the plan. */
export interface PlannedEvent {
  readonly object: ObjectRef;
  readonly type: 'Warning' | 'Normal';
  readonly reason: string;
  readonly message: string;
}

/**
 * `spec.infrastructure` of a Gateway: labels and annotations that the objects made for it must carry (GEP-1867).
 * Only of Gateways that give some.
 */
export interface PlannedInfrastructure {
  readonly gateway: ObjectRef;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
