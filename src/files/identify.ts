import { KINDS, type KindDescription } from '../apis/kinds.js';
import type { FieldProblem } from '../apis/validation/field-problem.js';
import { nearest } from '../util/nearest.js';

export type Identity =
  | { readonly description: KindDescription }
  /** Of an API that is not read: Deployments may lie beside routes. */
  | { readonly ignored: string }
  | { readonly problem: FieldProblem };

/** Which of our kinds an object is, by its apiVersion and kind. */
export function identify(apiVersion: unknown, kind: unknown): Identity {
  if (typeof kind !== 'string')
    return { problem: { path: 'kind', message: 'is required: the kind of the object, such as HTTPRoute' } };
  if (typeof apiVersion !== 'string') return { problem: missingVersion(kind) };

  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.lastIndexOf('/')) : '';
  const ofGroup = KINDS.filter((description) => description.group === group);
  if (ofGroup.length === 0) return foreignGroup(apiVersion, group, kind);

  const description = ofGroup.find((candidate) => candidate.kind === kind);
  if (!description) return unknownKind(group, kind, ofGroup);

  const versions = apiVersions(description);
  if (versions.includes(apiVersion)) return { description };
  return {
    problem: {
      path: 'apiVersion',
      message: `must be ${versions.join(' or ')} for ${kind}, not ${apiVersion}`,
    },
  };
}

function missingVersion(kind: string): FieldProblem {
  const [known] = KINDS.filter((description) => description.kind === kind).flatMap(apiVersions);
  return { path: 'apiVersion', message: `is required${known === undefined ? '' : `: ${known} for ${kind}`}` };
}

/** The same kind in another group may be another API (`Gateway` of Istio) or a slip of the pen. */
function foreignGroup(apiVersion: string, group: string, kind: string): Identity {
  const sameKind = KINDS.filter((description) => description.kind === kind);
  const intended = nearest(
    group,
    sameKind.map((description) => description.group).filter((known) => known !== ''),
  );
  const description = sameKind.find((candidate) => candidate.group === intended);
  if (intended === undefined || !description) return { ignored: `${kind} of ${apiVersion}` };
  const [version = ''] = apiVersions(description);
  return {
    problem: { path: 'apiVersion', message: `is of an unknown group, did you mean "${version}"?` },
  };
}

function unknownKind(group: string, kind: string, known: readonly KindDescription[]): Identity {
  const names = known.map((description) => description.kind);
  const suggestion = nearest(kind, names);
  if (suggestion !== undefined)
    return { problem: { path: 'kind', message: `is unknown, did you mean "${suggestion}"?` } };
  if (!group.includes('gateway.networking') && !group.startsWith('trickster'))
    return { ignored: `${kind} of ${group === '' ? 'core' : group}` };
  return { problem: { path: 'kind', message: `must be one of ${names.join(', ')}, not ${kind}` } };
}

function apiVersions({ group, versions }: KindDescription): readonly string[] {
  return versions.map((version) => (group === '' ? version : `${group}/${version}`));
}
