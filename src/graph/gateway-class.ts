import type { GatewayClass } from '../apis/gateway/gateway-class.js';
import type { Condition } from '../apis/meta.js';
import { parseClassParameters, type ClassParameters } from './class-parameters.js';
import { gatewayClassConditions } from './conditions/gateway-class.js';
import type { Scope } from './context.js';
import { objectRefOf } from './object-ref.js';
import type { ObjectRef } from './status-plan.js';

/** A GatewayClass that is ours. */
export interface ClassNode {
  readonly name: string;
  readonly ref: ObjectRef;
  readonly generation: number;
  readonly accepted: Condition;
  /** Absent when the class has bad parameters: its Gateways are not served. */
  readonly parameters?: ClassParameters;
}

export function examineGatewayClass(gatewayClass: GatewayClass, scope: Scope): ClassNode {
  const { metadata } = gatewayClass;
  const base = {
    name: metadata.name,
    ref: objectRefOf('GatewayClass', gatewayClass),
    generation: metadata.generation ?? 0,
  };
  const parameters = readParameters(gatewayClass, scope);
  return typeof parameters === 'string'
    ? { ...base, accepted: gatewayClassConditions.invalidParameters(parameters) }
    : { ...base, accepted: gatewayClassConditions.accepted(), parameters };
}

/** The parameters, or what is wrong with them. */
function readParameters(gatewayClass: GatewayClass, scope: Scope): ClassParameters | string {
  const ref = gatewayClass.spec.parametersRef;
  const { defaults, names } = scope.settings;
  if (!ref) return defaults;
  if (ref.group !== '' || ref.kind !== 'ConfigMap') {
    return `spec.parametersRef: ${ref.kind} of group "${ref.group}" is not supported, only a core ConfigMap is`;
  }
  if (ref.namespace === undefined) return `spec.parametersRef: ConfigMap ${ref.name} needs a namespace`;

  const key = `${ref.namespace}/${ref.name}`;
  const configMap = scope.lookup.find('configMaps', key);
  if (!configMap) return `spec.parametersRef: ConfigMap ${key} does not exist`;
  const parsed = parseClassParameters(configMap.data ?? {}, defaults, names);
  return parsed.ok ? parsed.parameters : `ConfigMap ${key}: ${parsed.problems.join('; ')}`;
}
