import { parseBytes } from '../../../base/format.ts';
import { maskOf } from '../masks.ts';
import { type AllocationQualifier, type Comparison, compare } from '../qualifier.ts';

export interface SizeCondition {
  readonly kind: 'size';
  readonly comparison: Comparison;
  /** Of the block, rounding included. */
  readonly bytes: number;
}

export const SIZE: AllocationQualifier<SizeCondition> = {
  name: 'size',
  help: 'block size in bytes',
  examples: ['size>64MiB', 'size=512'],
  isComparable: true,
  parse(value, comparison) {
    const bytes = parseBytes(value);
    return bytes === undefined ? undefined : { kind: 'size', comparison, bytes };
  },
  match({ replay }, { comparison, bytes }) {
    const { length, sizeBytes } = replay.allocations;
    return { mask: maskOf(length, (id) => compare(sizeBytes[id], comparison, bytes)) };
  },
};

/** Blocks of at least `from` and of fewer than `to` bytes; Infinity: no upper end. */
export function sizeTerms(fromBytes: number, toBytes: number): string {
  const terms: string[] = [];
  if (fromBytes > 0) terms.push(`size>=${fromBytes}`);
  if (Number.isFinite(toBytes)) terms.push(`size<${toBytes}`);
  return terms.join(' ');
}
