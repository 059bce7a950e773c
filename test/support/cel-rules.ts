import { isIP } from 'node:net';

import { Environment } from '@marcbachmann/cel-js';

import type { OpenApiSchema } from '../../hack/crds/open-api.js';
import { parseIp, parseIpRange } from '../../src/util/ip-range.js';

const environment = new Environment({ unlistedVariablesAreDyn: true })
  .registerFunction('isIP(string): bool', (text: string) => isIP(text) !== 0)
  .registerFunction(
    'isCIDR(string): bool',
    (text: string) => text.includes('/') && parseIpRange(text) !== undefined,
  )
  .registerFunction('familyOf(string): int', (text: string) => BigInt(parseIp(text)?.version ?? 0));

/** Paths at which a rule of the schema does not hold for a value, as an API server would evaluate them. */
export function celViolations(schema: OpenApiSchema, value: unknown, path = ''): readonly string[] {
  if (value === undefined) return [];
  const rules = schema['x-kubernetes-validations'];
  const own = Array.isArray(rules)
    ? rules
        .filter(
          ({ rule }: { rule: string }) => environment.evaluate(portable(rule), { self: value }) !== true,
        )
        .map(() => path)
    : [];
  return [...own, ...inner(schema, value, path)];
}

/** The library of Kubernetes for addresses in the words that the environment has. */
function portable(rule: string): string {
  return rule.replaceAll(/ip\(([^()]*\(.*?\)\[\d\])\)\.family\(\)/g, 'familyOf($1)');
}

function inner(schema: OpenApiSchema, value: unknown, path: string): readonly string[] {
  const { items, properties = {}, additionalProperties } = schema;
  if (Array.isArray(value))
    return items
      ? value.flatMap((item: unknown, index) => celViolations(items, item, `${path}[${String(index)}]`))
      : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const child = properties[key] ?? additionalProperties;
    return child ? celViolations(child, item, path === '' ? key : `${path}.${key}`) : [];
  });
}
