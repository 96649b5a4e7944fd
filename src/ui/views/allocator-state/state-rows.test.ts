import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SegmentKind } from '../../../allocator/state/types.ts';
import type { SegmentGroup } from '../../../device/allocator-state/segment-groups.ts';
import { rowOf, stateRows } from './state-rows.ts';

function groupsOf(sizes: readonly number[]): SegmentGroup[] {
  let first = 0;
  return sizes.map((segments, index) => {
    const group: SegmentGroup = {
      key: `group ${index}`,
      kind: SegmentKind.Native,
      isSmall: false,
      privatePool: undefined,
      stream: '0',
      first,
      totals: {
        segments,
        liveBlocks: 0,
        reservedBytes: 0,
        allocatedBytes: 0,
        pendingBytes: 0,
        freeBytes: 0,
        largestFreeBytes: 0,
        roundingBytes: 0,
        unknownBytes: 0,
      },
    };
    first += segments;
    return group;
  });
}

describe('rows', () => {
  it('are the groups, each with its segments unless folded', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 });
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.boolean()), (counts, folds) => {
        const groups = groupsOf(counts);
        const folded = new Set(groups.filter(() => folds.next().value).map(({ key }) => key));
        const rows = stateRows(groups, folded);
        const expected = groups.flatMap(({ key, first, totals }) => [
          key,
          ...(folded.has(key) ? [] : Array.from({ length: totals.segments }, (_, i) => first + i)),
        ]);
        expect(rows.map((row) => (typeof row === 'number' ? row : row.key))).toEqual(expected);
        expected.forEach((what, row) => {
          if (typeof what === 'number') expect(rowOf(rows, what)).toBe(row);
        });
      }),
    );
  });

  it('lead from a segment to the head of its folded group', () => {
    const groups = groupsOf([2, 3]);
    expect(rowOf(stateRows(groups, new Set(['group 1'])), 3)).toBe(3);
    expect(rowOf([], 0)).toBe(-1);
  });
});
