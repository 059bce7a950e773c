import { parseAllDocuments, stringify } from 'yaml';

import type { AnyObject } from '../../src/apis/objects.js';
import type { Condition } from '../../src/apis/meta.js';
import type { StatusAddress } from '../../src/graph/status-plan.js';
import { DEFAULT_CLASS_PARAMETERS, type ClassParameters } from '../../src/graph/class-parameters.js';
import { translate } from '../../src/translation/translate.js';
import type { Translation } from '../../src/translation/translation.js';
import { clusterFrom, objectFrom } from '../support/translation/cluster.js';
import { fakeLibraries } from '../support/translation/fake-libraries.js';
import { testInput, testSettings } from '../support/translation/settings.js';

/** A document without `kind` at the head of a case. */
interface CaseOptions {
  /** Objects are not checked as the API server would: an older CRD let them through. */
  readonly invalid?: boolean;
  readonly stream?: boolean;
  readonly defaults?: Partial<ClassParameters>;
  /** `null`: no published Service is configured. */
  readonly published?: readonly StatusAddress[] | null;
  /** By Secret: what was usable before. */
  readonly lastGood?: Readonly<Record<string, { readonly chain: string; readonly privateKey: string }>>;
}

export interface GoldenCase {
  readonly options: CaseOptions;
  readonly objects: readonly AnyObject[];
}

export function readCase(text: string): GoldenCase {
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown>);
  const [first, ...rest] = documents;
  const hasOptions = first !== undefined && first['kind'] === undefined;
  const options: CaseOptions = hasOptions ? first : {};
  const raw = hasOptions ? rest : documents;
  return {
    options,
    objects: raw.map((one) => objectFrom(withUid(one), options.invalid === true ? 'tolerant' : 'strict')),
  };
}

/** What the API server fills in. */
function withUid(raw: Record<string, unknown>): Record<string, unknown> {
  return { ...raw, metadata: { generation: 1, ...(raw['metadata'] as object) } };
}

export function runCase({ options }: GoldenCase, objects: readonly AnyObject[]): Translation {
  const settings = testSettings({
    capabilities: { stream: options.stream ?? false },
    defaults: { ...DEFAULT_CLASS_PARAMETERS, ...options.defaults },
  });
  const libraries = fakeLibraries({ lastGoodCertificate: (secret) => options.lastGood?.[secret] });
  const { published } = options;
  const input = testInput(clusterFrom(objects), {
    ...(published !== undefined && { publishedAddresses: published ?? undefined }),
  });
  return translate(settings, libraries, input);
}

/** Readable and the same for equal translations: empty sections and defaults that every case has are left out. */
export function printCase({ configuration, statuses, events, infrastructure }: Translation): string {
  const sections: readonly [string, readonly unknown[]][] = Object.entries(configuration);
  const filled = sections.filter(([, section]) => section.length > 0);
  return stringify(
    {
      configuration: JSON.parse(JSON.stringify(Object.fromEntries(filled), leaveOut)) as unknown,
      statuses: statuses.map(({ object, generation, status }) => ({
        object: `${object.kind} ${object.namespace}${object.namespace === '' ? '' : '/'}${object.name}`,
        generation,
        ...shorten(status.shape === 'gatewayclass' ? { conditions: status.conditions } : status),
      })),
      ...(infrastructure.length > 0 && { infrastructure }),
      events: events.map(
        ({ object, type, reason, message }) =>
          `${type} ${object.kind} ${object.namespace}/${object.name} ${reason}: ${message}`,
      ),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

/** Conditions and kinds on one line each. */
function shorten(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (key, part: unknown) => {
      if (key === 'conditions' && Array.isArray(part)) {
        return (part as readonly Condition[]).map(
          ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
        );
      }
      if (key === 'supportedKinds' && Array.isArray(part)) {
        return (part as readonly { readonly kind: string }[]).map(({ kind }) => kind).join(', ');
      }
      return part;
    }),
  ) as object;
}

function leaveOut(key: string, value: unknown): unknown {
  return key === 'settings' || key === 'connectTimeoutMs' || key === 'loadBalancing' ? undefined : value;
}
