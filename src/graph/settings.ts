import type { ClassParameters, ConfiguredNames } from './class-parameters.js';

/** What the operator was started with, as far as it decides about objects. One object per start. */
export interface GraphSettings {
  /** `spec.controllerName` of the GatewayClasses that are ours. */
  readonly controllerName: string;
  /** Ports the operator itself listens on: no listener gets them. */
  readonly reservedPorts: readonly ReservedPort[];
  /** `kubernetes.defaults` of the configuration file over the built-in defaults. */
  readonly defaults: ClassParameters;
  readonly names: ConfiguredNames;
  readonly capabilities: Capabilities;
}

export interface ReservedPort {
  readonly port: number;
  /** Canonical IP address; absent: every address. */
  readonly address?: string;
}

/** What this build's engine can do beyond HTTP; what it cannot is refused, never ignored. */
export interface Capabilities {
  /** TLS, TCP and UDP listeners with TLSRoute, TCPRoute and UDPRoute. */
  readonly stream: boolean;
}
