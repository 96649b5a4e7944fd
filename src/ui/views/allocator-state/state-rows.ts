/** The rows of the state view, and the keys that move between them, their blocks and the events. */
import { range } from 'd3';
import { useEffect, useMemo, useState } from 'react';
import type { SegmentGroup, SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import type { LocatedBlock } from '../../../device/allocator-state/state-reader.ts';
import { useStores } from '../../../state/stores.ts';
import { cursorKeys } from '../../panels/cursor/cursor-steps.ts';
import { hasModifier, type KeyActions, useKeys } from '../../shared/browser.ts';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';

/** A group's head, or a segment's position in the order. */
export type StateRow = SegmentGroup | number;

/** The groups, each with its segments unless it is folded. */
export const stateRows = (
  groups: readonly SegmentGroup[],
  folded: ReadonlySet<string>,
): readonly StateRow[] =>
  groups.flatMap((group) => {
    const { key, first, totals } = group;
    return [group, ...(folded.has(key) ? [] : range(first, first + totals.segments))];
  });

/** Row of the segment at a position; if its group is folded, the group's head; -1 if there is none. */
export function rowOf(rows: readonly StateRow[], position: number): number {
  const row = rows.indexOf(position);
  if (row >= 0) return row;
  return rows.findLastIndex((head) => typeof head === 'object' && head.first <= position);
}

export type Folding = ReturnType<typeof useFolding>;

/** A group stays folded from event to event, even if it vanishes and comes back. */
export function useFolding(groups: readonly SegmentGroup[]) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => stateRows(groups, folded), [groups, folded]);
  const toggle = ({ key }: SegmentGroup) => {
    const after = new Set(folded);
    if (!after.delete(key)) after.add(key);
    setFolded(after);
  };
  const areAllFolded = groups.length > 0 && groups.every(({ key }) => folded.has(key));
  const toggleAll = () =>
    setFolded(areAllFolded ? new Set() : new Set(groups.map(({ key }) => key)));
  return { rows, folded, toggle, areAllFolded, toggleAll };
}

/** Elements with their own arrow keys: scrollable panels, dialogs, resize handles. */
const ELSEWHERE = 'dialog, [popover], [role="separator"], [role="tabpanel"], [role="tablist"]';

interface StatePlace {
  readonly event: number;
  readonly order: SegmentOrder;
  readonly folding: Folding;
  readonly active: number;
  readonly rowsPerPage: number;
  readonly show: (row: number) => void;
}

/**
 * Handles the view's keys, also while the focus is on a tab or in the bar above, so arrows step through events right
 * after the view opens.
 */
export function useStateKeys({ event, order, folding, active, rowsPerPage, show }: StatePlace) {
  const { rows, toggle } = folding;
  const { view } = useStores();
  const { device } = useDevice();
  const selected = useSelectedIndex();
  const ask = useAsk();
  const here = rows[active];
  const showBlock = (block: LocatedBlock | undefined) => {
    const row = block === undefined ? -1 : rowOf(rows, block.position);
    if (row >= 0) show(row);
  };
  const find = (allocation: number, step: -1 | 0 | 1, from: number) =>
    ask('stateBlock', { event, order, allocation, step, position: from })
      // The worker is gone; the list reports it.
      .catch(() => undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: shown when it is selected, not at every step
  useEffect(() => {
    if (selected >= 0) void find(selected, 0, 0).then(showBlock);
  }, [selected]);
  const selectNext = (allocation: number, step: -1 | 1) => () => {
    const first = typeof here === 'number' ? here : (here?.first ?? 0);
    void find(allocation, step, first).then((block) => {
      if (block !== undefined) view.click('allocation', { selection: block.label });
      showBlock(block);
    });
  };
  const cursor = cursorKeys(device, view);
  const toStart = () => device.events > 0 && view.commit({ cursor: 0 });
  const moveRow = (by: number) => () => show(Math.max(0, Math.min(rows.length - 1, active + by)));
  const actions: KeyActions = {
    ArrowLeft: cursor[','],
    'Shift+ArrowLeft': cursor['<'],
    ArrowRight: cursor['.'],
    'Shift+ArrowRight': cursor['>'],
    Home: toStart,
    End: cursor.e,
    ArrowUp: moveRow(-1),
    'Shift+ArrowUp': selectNext(selected, -1),
    ArrowDown: moveRow(1),
    'Shift+ArrowDown': selectNext(selected, 1),
    PageUp: moveRow(-rowsPerPage),
    PageDown: moveRow(rowsPerPage),
    /** Folds or unfolds a group; in a segment, selects the first block. */
    Enter: typeof here === 'object' ? toggle.bind(undefined, here) : selectNext(-1, 1),
    /** Undoes the last clicks; without any, deselects. */
    Escape() {
      if (!view.undoClick()) view.commit({ selection: undefined });
    },
  };
  useKeys((pressed, target) => {
    const { key, shiftKey } = pressed;
    if (hasModifier(pressed) || target.closest(ELSEWHERE) !== null) return false;
    // A button handles Enter itself.
    if (key === 'Enter' && target.closest('button, summary') !== null) return false;
    const action = (shiftKey ? actions[`Shift+${key}`] : undefined) ?? actions[key];
    action?.();
    return action !== undefined;
  });
}
