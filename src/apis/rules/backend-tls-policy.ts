import type { BackendTlsPolicy } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

export function* distinctTargets({ spec: { targetRefs } }: BackendTlsPolicy): Generator<FieldProblem> {
  for (const [index, ref] of targetRefs.entries())
    for (const [other, earlier] of targetRefs.slice(0, index).entries()) {
      const sameTarget = ['group', 'kind', 'name'] as const;
      if (!sameTarget.every((field) => ref[field] === earlier[field])) continue;
      const path = itemPath('spec.targetRefs', index);
      const oneIsWhole = (ref.sectionName === undefined) !== (earlier.sectionName === undefined);
      yield* problemWhen(
        oneIsWhole,
        path,
        `refers to the target of targetRefs[${String(other)}]: both must give a sectionName`,
      );
      yield* problemWhen(
        !oneIsWhole && ref.sectionName === earlier.sectionName,
        path,
        `must differ from targetRefs[${String(other)}] in sectionName`,
      );
    }
}

export function* oneTrustAnchor({ spec: { validation } }: BackendTlsPolicy): Generator<FieldProblem> {
  const own = (validation.caCertificateRefs ?? []).length > 0;
  const wellKnown = validation.wellKnownCACertificates !== undefined;
  yield* problemWhen(
    own && wellKnown,
    'spec.validation',
    'must not have both caCertificateRefs and wellKnownCACertificates: remove one',
  );
  yield* problemWhen(
    !own && !wellKnown,
    'spec.validation',
    'must have caCertificateRefs or wellKnownCACertificates: System',
  );
}

export function* subjectAltNameFields({ spec }: BackendTlsPolicy): Generator<FieldProblem> {
  for (const [index, name] of (spec.validation.subjectAltNames ?? []).entries()) {
    const path = itemPath('spec.validation.subjectAltNames', index);
    const [needed, other] =
      name.type === 'URI' ? (['uri', 'hostname'] as const) : (['hostname', 'uri'] as const);
    yield* problemWhen(name[needed] === undefined, `${path}.${needed}`, `is required for type ${name.type}`);
    yield* problemWhen(
      name[other] !== undefined,
      `${path}.${other}`,
      `must not be set for type ${name.type}`,
    );
  }
}
