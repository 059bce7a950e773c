import type { Kind } from '../apis/kinds.js';

/** What the sources report; the composition root binds it to `trickster_kgw_*` of the metrics catalogue. */
export interface KubeMetrics {
  /** trickster_kgw_watch_events_total */
  watchEvent(kind: Kind, event: WatchEventType): void;
  /** trickster_kgw_relists_total */
  relist(kind: Kind, reason: RelistReason): void;
  /** trickster_kgw_watch_errors_total; `reason` is from a small set: HTTP status, `network`, `silent`, `malformed` … */
  watchError(kind: Kind, reason: string): void;
}

type WatchEventType = 'added' | 'modified' | 'deleted' | 'bookmark' | 'error';
export type RelistReason = 'initial' | 'expired' | 'broken' | 'resync';

export const noKubeMetrics: KubeMetrics = {
  watchEvent: () => undefined,
  relist: () => undefined,
  watchError: () => undefined,
};
