import { readdirSync, readFileSync } from 'node:fs';

import { expect } from 'chai';

import type { Condition } from '../../src/apis/meta.js';
import { backendTlsConditions } from '../../src/graph/conditions/backend-tls-policy.js';
import { cachePolicyConditions } from '../../src/graph/conditions/cache-policy.js';
import { gatewayClassConditions } from '../../src/graph/conditions/gateway-class.js';
import { gatewayConditions } from '../../src/graph/conditions/gateway.js';
import { listenerSetConditions } from '../../src/graph/conditions/listener-set.js';
import { listenerConditions } from '../../src/graph/conditions/listener.js';
import { trafficPolicyConditions } from '../../src/graph/conditions/policy.js';
import { routeConditions } from '../../src/graph/conditions/route.js';

const folder = new URL('./testdata/', import.meta.url);
const outputs = readdirSync(folder)
  .filter((name) => name.endsWith('.out.yaml'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));

const constructors: Readonly<Record<string, object>> = {
  gatewayClassConditions,
  gatewayConditions,
  listenerConditions,
  listenerSetConditions,
  routeConditions,
  backendTlsConditions,
  cachePolicyConditions,
  trafficPolicyConditions,
};

/** A constructor may put its argument in as it is. */
type Made = { readonly [K in keyof Condition]: unknown };

/** Texts, numbers and lists alike can be made of it. */
const ANYTHING = ['UnsupportedValue'];

describe('every condition constructor appears in a golden case', () => {
  for (const [group, members] of Object.entries(constructors)) {
    for (const [name, make] of Object.entries(
      members as Readonly<Record<string, (...texts: unknown[]) => Made>>,
    )) {
      it(`${group}.${name}`, () => {
        const { type, status, reason, message } = make(ANYTHING, ANYTHING, ANYTHING);
        // The words around what was put in tell two constructors with the same reason apart.
        const words = String(message)
          .split('UnsupportedValue')
          .map((text) => text.replaceAll('"', '\\"'));
        const pattern = `${String(type)} ${String(status)} ${String(reason)}: ${words.map(escape).join('[^\\n]*')}`;
        expect(outputs.some((output) => new RegExp(pattern).test(output))).to.equal(true, pattern);
      });
    }
  }
});

function escape(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}
