import type { Listener } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

interface WithListeners {
  readonly spec: { readonly listeners: readonly Listener[] };
}

/** The rules of the listeners of a Gateway or ListenerSet. Names are unique by the schema's list keys. */
export function* listenerRules({ spec }: WithListeners): Generator<FieldProblem> {
  for (const [index, listener] of spec.listeners.entries()) {
    const path = itemPath('spec.listeners', index);
    yield* listenerTls(listener, `${path}.tls`);
    yield* problemWhen(
      ['TCP', 'UDP'].includes(listener.protocol) && listener.hostname !== undefined,
      `${path}.hostname`,
      `must not be set for protocol ${listener.protocol}`,
    );
  }
  yield* distinctListeners(spec.listeners);
}

function* listenerTls({ protocol, tls }: Listener, path: string): Generator<FieldProblem> {
  yield* problemWhen(
    tls !== undefined && ['HTTP', 'TCP', 'UDP'].includes(protocol),
    path,
    `must not be set for protocol ${protocol}: use HTTPS or TLS`,
  );
  yield* problemWhen(
    protocol === 'HTTPS' && tls?.mode === 'Passthrough',
    `${path}.mode`,
    'must be Terminate for protocol HTTPS: use protocol TLS to pass through',
  );
  yield* problemWhen(protocol === 'TLS' && tls === undefined, path, 'is required for protocol TLS');
  yield* problemWhen(
    tls?.mode === 'Terminate' &&
      (tls.certificateRefs ?? []).length === 0 &&
      Object.keys(tls.options ?? {}).length === 0,
    `${path}.certificateRefs`,
    'is required for mode Terminate: name the Secret with the certificate',
  );
}

function* distinctListeners(listeners: readonly Listener[]): Generator<FieldProblem> {
  const byIdentity = new Map<string, string>();
  for (const [index, { name, port, protocol, hostname = '' }] of listeners.entries()) {
    const identity = `${String(port)} ${protocol} ${hostname}`;
    const earlier = byIdentity.get(identity);
    if (earlier === undefined) byIdentity.set(identity, name);
    else
      yield {
        path: itemPath('spec.listeners', index),
        message: `must differ from listener "${earlier}" in port, protocol or hostname`,
      };
  }
}
