import type { HeaderOperation } from '../../ir/cache-policy.js';
import type { HeaderModifier } from '../../ir/http-filter.js';
import type { Exchange } from '../exchange/exchange.js';
import { FieldBlock, type Fields } from '../exchange/fields.js';
import type { ResponseHead } from '../exchange/heads.js';
import { CONTINUE, type RequestStep, type ResponseStep, type StepOutcome } from '../exchange/route-entry.js';
import { toFieldValue } from './literal.js';

/**
 * Operations on fields, in order, as what they come to: fields that go, and then fields that come. Names in lower case,
 * values ready for the wire.
 */
export class HeaderOperations implements ResponseStep {
  readonly #gone: readonly string[];
  readonly #added: FieldBlock | undefined;
  /** `Host` is no field here: a value for it rewrites the authority (F-05: Host and `:authority` never differ). */
  readonly #authority: string | undefined;

  constructor(operations: readonly HeaderOperation[]) {
    const prepared = operations.map(prepare);
    this.#authority = prepared.findLast(({ name, kind }) => name === 'host' && kind !== 'remove')?.value;
    const gone = new Set<string>();
    let added: PreparedOperation[] = [];
    for (const operation of prepared) {
      const { kind, name } = operation;
      if (NOT_OURS_TO_CHANGE.has(name) || name.startsWith(':')) continue;
      if (kind !== 'append') {
        gone.add(name);
        added = added.filter((other) => other.name !== name);
      }
      if (kind !== 'remove') added.push(operation);
    }
    this.#gone = [...gone];
    if (added.length > 0) this.#added = new FieldBlock(added.flatMap(({ name, value }) => [name, value]));
  }

  apply(fields: Fields): void {
    for (const name of this.#gone) fields.remove(name);
    if (this.#added) fields.addBlock(this.#added);
  }

  /** As a step on requests. */
  asRequestStep(): RequestStep {
    return {
      run: ({ request }): StepOutcome => {
        if (this.#authority !== undefined) request.authority = this.#authority;
        this.apply(request.fields);
        return CONTINUE;
      },
    };
  }

  /** As a step on responses. */
  run(_exchange: Exchange, head: ResponseHead): void {
    this.apply(head.fields);
  }
}

/** `set`, then `add`, then `remove`; a name stands in one of them only. */
export function modifierOperations({ set, add, remove }: HeaderModifier): HeaderOperations {
  return new HeaderOperations([
    ...set.map(({ name, value }) => ({ operation: 'set' as const, name, value })),
    ...add.map(({ name, value }) => ({ operation: 'append' as const, name, value })),
    ...remove.map((name) => ({ operation: 'remove' as const, name })),
  ]);
}

interface PreparedOperation {
  readonly kind: HeaderOperation['operation'];
  readonly name: string;
  readonly value: string;
}

function prepare({ operation, name, value = '' }: HeaderOperation): PreparedOperation {
  return { kind: operation, name: name.toLowerCase(), value: toFieldValue(value) };
}

/** Framing and connection-specific fields belong to the codecs (RFC 9110 §7.6.1); `host` is the authority. */
const NOT_OURS_TO_CHANGE: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
