/** Rows of the list: a group's head, then its segments unless it is folded. */

import { useCallback, useMemo, useState } from 'react';
import { upperBound } from '../../../base/binary-search.ts';
import type { SegmentGroup } from '../../../device/allocator-state/segment-groups.ts';

export type StateRow =
  | { readonly kind: 'group'; readonly group: SegmentGroup; readonly isFolded: boolean }
  /** A segment's position in the order. */
  | { readonly kind: 'segment'; readonly group: SegmentGroup; readonly position: number };

/** Finds rows without listing them: there may be very many segments. */
export class StateRows {
  readonly count: number;
  readonly #groups: readonly SegmentGroup[];
  readonly #folded: ReadonlySet<string>;
  readonly #heads: readonly number[];

  constructor(groups: readonly SegmentGroup[], folded: ReadonlySet<string>) {
    this.#groups = groups;
    this.#folded = folded;
    const heads: number[] = [];
    let row = 0;
    for (const { key, totals } of groups) {
      heads.push(row);
      row += 1 + (folded.has(key) ? 0 : totals.segments);
    }
    this.#heads = heads;
    this.count = row;
  }

  at(row: number): StateRow | undefined {
    const index = upperBound(this.#heads, row) - 1;
    const group = this.#groups[index];
    const head = this.#heads[index];
    if (group === undefined || head === undefined || row >= this.count) return undefined;
    if (row === head) return { kind: 'group', group, isFolded: this.#folded.has(group.key) };
    return { kind: 'segment', group, position: group.first + row - head - 1 };
  }

  /** Row of the segment at a position; if its group is folded, the group's head. */
  rowOf(position: number): number | undefined {
    const index = this.#groups.findLastIndex(({ first }) => first <= position);
    const group = this.#groups[index];
    const head = this.#heads[index];
    if (group === undefined || head === undefined) return undefined;
    return this.#folded.has(group.key) ? head : head + 1 + position - group.first;
  }
}

/** A group stays folded from event to event, even if it vanishes and comes back. */
export function useFolding(groups: readonly SegmentGroup[]) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => new StateRows(groups, folded), [groups, folded]);
  const toggle = useCallback((key: string) => {
    setFolded((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  const areAllFolded = groups.length > 0 && groups.every(({ key }) => folded.has(key));
  const toggleAll = () =>
    setFolded(areAllFolded ? new Set() : new Set(groups.map(({ key }) => key)));
  return { rows, toggle, areAllFolded, toggleAll };
}
