import type { Container, ServiceIdentifier } from 'inversify';

import { type Kind, KINDS } from '../apis/kinds.js';
import type { ResourceSource } from '../kube/resource-source.js';
import { TOKENS } from '../tokens.js';

/** Binds the source of every kind to its token. */
export function bindSources(container: Container, sourceOf: (kind: Kind) => ResourceSource): void {
  for (const { kind } of KINDS) {
    // Which kind's objects a source gives is known to whoever injects it by the kind's token.
    const token = TOKENS.sources[kind] as ServiceIdentifier<ResourceSource>;
    container.bind(token).toConstantValue(sourceOf(kind));
  }
}
