import { parseIpRange } from '../../util/ip-range.js';
import type { AddressPool } from '../infra/address-pool.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

export function* addressRanges({ spec: { addresses } }: AddressPool): Generator<FieldProblem> {
  for (const [index, text] of addresses.entries())
    yield* problemWhen(
      parseIpRange(text) === undefined,
      itemPath('spec.addresses', index),
      `must be a CIDR, an address or a range first-last of one family, not "${text}"`,
    );
}
