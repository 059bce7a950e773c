import { KINDS, type Kind } from '../../../src/apis/kinds.js';
import { DEFAULT_CLASS_PARAMETERS } from '../../../src/graph/class-parameters.js';
import { DEFAULT_LISTENER_SETTINGS } from '../../../src/ir/listener.js';
import type { TranslationInput, TranslationSettings } from '../../../src/translation/translate.js';
import type { ClusterSnapshot } from '../../../src/apis/cluster-snapshot.js';

export const CONTROLLER_NAME = 'trickstercache.org/gateway-controller';

export function testSettings(overrides: Partial<TranslationSettings> = {}): TranslationSettings {
  return {
    controllerName: CONTROLLER_NAME,
    reservedPorts: [{ port: 8484, address: '127.0.0.1' }, { port: 8481 }],
    defaults: DEFAULT_CLASS_PARAMETERS,
    names: { caches: new Set(['default', 'large']), negativeCaches: new Set(['default']) },
    capabilities: { stream: false },
    listenerSettings: () => DEFAULT_LISTENER_SETTINGS,
    ...overrides,
  };
}

const EVERY_KIND: ReadonlySet<Kind> = new Set(KINDS.map(({ kind }) => kind));
const PUBLISHED = [{ type: 'IPAddress', value: '192.0.2.1' }] as const;

export function testInput(
  cluster: ClusterSnapshot,
  overrides: Partial<TranslationInput> = {},
): TranslationInput {
  return { cluster, publishedAddresses: PUBLISHED, installedKinds: EVERY_KIND, ...overrides };
}
