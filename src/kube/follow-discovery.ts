import { distinctUntilChanged, map, NEVER, of, switchMap, type Observable } from 'rxjs';

import type { KindDescription } from '../apis/kinds.js';
import type { KubernetesObject } from '../apis/meta.js';
import type { ServedKinds } from './discovery.js';
import type { ServedKind } from './resource-path.js';
import type { ResourceSnapshot } from './resource-source.js';
import { sameValue } from './same-value.js';

/**
 * The objects of a kind for as long as it is served. An optional kind that is not gives an empty snapshot. A required
 * one is waited for; when it goes, the last snapshot stays, because its objects were reported as deleted before.
 */
export function followDiscovery<T extends KubernetesObject>(
  { kind, required }: KindDescription,
  served$: Observable<ServedKinds>,
  open: (served: ServedKind) => Observable<ResourceSnapshot<T>>,
): Observable<ResourceSnapshot<T>> {
  return served$.pipe(
    map((served) => served.get(kind)),
    distinctUntilChanged((a, b) => sameValue(a, b)),
    switchMap((served) => {
      if (served !== undefined) return open(served);
      return required ? NEVER : of(new Map<string, T>());
    }),
  );
}
