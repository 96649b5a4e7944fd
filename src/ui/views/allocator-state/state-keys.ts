/** The keys of the state view, and what they do. */
import { type RefObject, useEffect } from 'react';
import type { SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useStores } from '../../../state/stores.ts';
import type { StateBlock } from '../../../worker/protocol.ts';
import { BIG_STEP, stepped } from '../../panels/cursor/cursor-steps.ts';
import { isTextField, useKeyDown } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import { type Folding, type ListHandle, rowOf } from './segment-list.tsx';

/** Elements with their own arrow keys: scrollable panels, dialogs, resize handles. */
const ELSEWHERE = 'dialog, [popover], [role="separator"], [role="tabpanel"], [role="tablist"]';

interface StatePlace {
  readonly event: number;
  readonly order: SegmentOrder;
  readonly folding: Folding;
  readonly active: number;
  readonly selected: number;
  readonly list: RefObject<ListHandle | null>;
  readonly setActive: (row: number) => void;
}

/**
 * Handles the view's keys, also while the focus is on a tab or in the bar above, so arrows step through events right
 * after the view opens.
 */
export function useStateKeys(place: StatePlace): void {
  const { event, order, active, selected, list, setActive } = place;
  const { rows, toggle } = place.folding;
  const { view } = useStores();
  const { device } = useDevice();
  const ask = useAsk();
  const here = rows[active];
  const show = (row: number) => {
    setActive(row);
    list.current?.show(row);
  };
  const showBlock = (block: StateBlock | undefined) => {
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
  const select = (block: StateBlock | undefined) => {
    if (block === undefined) return;
    view.click('allocation', { selection: block.label });
    showBlock(block);
  };
  const step = (events: number) => () => {
    if (device.events > 0) {
      view.move({ cursor: stepped(device, view.getState().view.cursor, events) });
    }
  };
  const goTo = (cursor: number) => () => {
    if (device.events > 0) view.commit({ cursor });
  };
  const moveRow = (by: number) => () => show(Math.max(0, Math.min(rows.length - 1, active + by)));
  const movePage = (direction: -1 | 1) => () =>
    moveRow(direction * (list.current?.rowsPerPage() ?? 1))();
  const moveBlock = (direction: -1 | 1) => () => {
    const first = typeof here === 'number' ? here : (here?.first ?? 0);
    void find(selected, direction, first).then(select);
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: step(-1),
    'Shift+ArrowLeft': step(-BIG_STEP),
    ArrowRight: step(1),
    'Shift+ArrowRight': step(BIG_STEP),
    Home: goTo(0),
    End: goTo(device.events - 1),
    ArrowUp: moveRow(-1),
    'Shift+ArrowUp': moveBlock(-1),
    ArrowDown: moveRow(1),
    'Shift+ArrowDown': moveBlock(1),
    PageUp: movePage(-1),
    PageDown: movePage(1),
    /** Folds or unfolds a group; in a segment, selects the first block. */
    Enter() {
      if (typeof here === 'object') toggle(here);
      else if (here !== undefined) void find(-1, 1, here).then(select);
    },
    /** Undoes the last clicks; without any, deselects. */
    Escape() {
      if (!view.undoClick()) view.commit({ selection: undefined });
    },
  };
  useKeyDown((pressed) => {
    const { key, target, shiftKey, ctrlKey, metaKey, altKey } = pressed;
    if (pressed.defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (isTextField(target) || !(target instanceof Element) || target.closest(ELSEWHERE)) return;
    // A button handles Enter itself.
    if (key === 'Enter' && target.closest('button, summary') !== null) return;
    const action = (shiftKey ? actions[`Shift+${key}`] : undefined) ?? actions[key];
    if (action === undefined) return;
    action();
    pressed.preventDefault();
  });
}
