import type { Observable } from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import type { KubeClient } from '../kube/kube-client.js';
import type { Leadership } from '../kube/leadership.js';
import type { ServedKind } from '../kube/resource-path.js';
import type { StatusCache } from '../kube/status-cache.js';
import type { RateLimit } from '../kube/token-bucket.js';
import type { Logger } from '../telemetry/logger.js';
import type { Clock } from '../util/clock.js';
import type { StatusMetrics } from './status-metrics.js';

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, 'get' | 'replace'>;
  /** `Discovery.find` */
  readonly findKind: (kind: Kind) => ServedKind | undefined;
  readonly statuses: StatusCache;
  readonly leadership$: Observable<Leadership>;
  readonly controllerName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: StatusMetrics;
  readonly random?: () => number;
  /** Of all requests together. */
  readonly rateLimit?: RateLimit;
}
