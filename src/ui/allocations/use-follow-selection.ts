import { type RefObject, useEffect, useRef } from 'react';
import type { TableHandle } from '../table/table-types.ts';

/**
 * Keeps the row of what is selected in sight when it was selected elsewhere, and goes to the top of a
 * list that is sorted anew. `list` tells lists apart; `place` is -1 while the row is not known.
 */
export function useFollowSelection(
  table: RefObject<TableHandle | null>,
  list: object | undefined,
  selected: number,
  place: number,
): void {
  const shown = useRef(-1);
  const before = useRef(list);
  useEffect(() => {
    if (list === undefined || before.current === list) return;
    const isFirst = before.current === undefined;
    before.current = list;
    if (!isFirst) table.current?.reveal(0);
  }, [list, table]);
  useEffect(() => {
    if (selected < 0) shown.current = -1;
    if (place < 0 || shown.current === selected) return;
    const isFirst = shown.current < 0;
    shown.current = selected;
    table.current?.reveal(place, isFirst ? 'middle' : 'nearest');
  }, [selected, place, table]);
}
