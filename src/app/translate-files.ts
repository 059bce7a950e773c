import { type ClusterSnapshot } from '../apis/cluster-snapshot.js';
import { type Kind, KINDS } from '../apis/kinds.js';
import { translate } from '../translation/translate.js';
import type { Translation } from '../translation/translation.js';
import { createLibraries } from './libraries.js';
import type { RawOptions } from './options/schema.js';
import { publishedAddresses } from './published-addresses.js';
import { translationSettings } from './translation-settings.js';

/** One pass over a snapshot, without an engine: for `translate` and `validate`. */
export function translateSnapshot(raw: RawOptions, cluster: ClusterSnapshot): Translation {
  return translate(translationSettings(raw), createLibraries(Date.now), {
    cluster,
    publishedAddresses: publishedAddresses(cluster, raw.kubernetes.published_service),
    installedKinds: new Set<Kind>(KINDS.map(({ kind }) => kind)),
  });
}
