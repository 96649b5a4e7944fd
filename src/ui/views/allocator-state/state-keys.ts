/** The keys of the state view, and what they do. */
import { type RefObject, useEffect } from 'react';
import type { SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useStores } from '../../../state/stores.ts';
import type { StateBlock } from '../../../worker/protocol.ts';
import { BIG_STEP, stepped } from '../../panels/cursor/cursor-steps.ts';
import { isTextField, useKeyDown } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import type { ListHandle } from './segment-list.tsx';
import type { StateRows } from './state-rows.ts';

export type StateActions = ReturnType<typeof useStateActions>;

const KEYS: Readonly<Record<string, (actions: StateActions) => unknown>> = {
  ArrowLeft: (actions) => actions.step(-1),
  'Shift+ArrowLeft': (actions) => actions.step(-BIG_STEP),
  ArrowRight: (actions) => actions.step(1),
  'Shift+ArrowRight': (actions) => actions.step(BIG_STEP),
  Home: (actions) => actions.firstEvent(),
  End: (actions) => actions.lastEvent(),
  ArrowUp: (actions) => actions.moveRow(-1),
  'Shift+ArrowUp': (actions) => actions.moveBlock(-1),
  ArrowDown: (actions) => actions.moveRow(1),
  'Shift+ArrowDown': (actions) => actions.moveBlock(1),
  PageUp: (actions) => actions.movePage(-1),
  PageDown: (actions) => actions.movePage(1),
  Enter: (actions) => actions.open(),
  Escape: (actions) => actions.deselect(),
};

type StateKey = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

/** Runs the action of a key; false if the key has none. */
export function onStateKey(event: StateKey, actions: StateActions): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const action = (event.shiftKey ? KEYS[`Shift+${event.key}`] : undefined) ?? KEYS[event.key];
  action?.(actions);
  return action !== undefined;
}

/** Elements with their own arrow keys: scrollable panels, dialogs, resize handles. */
const ELSEWHERE = 'dialog, [popover], [role="separator"], [role="tabpanel"], [role="tablist"]';

/**
 * Handles the view's keys, also while the focus is on a tab or in the bar above, so arrows step through events right
 * after the view opens.
 */
export function useStateKeys(place: StatePlace): void {
  const actions = useStateActions(place);
  useKeyDown((event) => {
    const { target } = event;
    if (event.defaultPrevented || isTextField(target) || !(target instanceof Element)) return;
    if (target.closest(ELSEWHERE) !== null) return;
    // A button handles Enter itself.
    const isTaken = event.key === 'Enter' && target.closest('button, summary') !== null;
    if (!isTaken && onStateKey(event, actions)) event.preventDefault();
  });
}

interface StatePlace {
  readonly event: number;
  readonly order: SegmentOrder;
  readonly rows: StateRows;
  readonly active: number;
  readonly selected: number;
  readonly list: RefObject<ListHandle | null>;
  readonly setActive: (row: number) => void;
  readonly toggle: (key: string) => void;
}

function useStateActions(place: StatePlace) {
  const { event, order, rows, active, selected, list, setActive, toggle } = place;
  const { view } = useStores();
  const { device } = useDevice();
  const ask = useAsk();
  const show = (row: number) => {
    setActive(row);
    list.current?.show(row);
  };
  const showBlock = (block: StateBlock | undefined) => {
    const row = block && rows.rowOf(block.position);
    if (row !== undefined) show(row);
  };
  const find = (allocation: number, step: -1 | 0 | 1, from: number) =>
    ask('stateBlock', { event, order, allocation, step, position: from })
      // The worker is gone; the list reports it.
      .catch(() => undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: shown when it is selected, not at every step
  useEffect(() => {
    if (selected >= 0) void find(selected, 0, 0).then(showBlock);
  }, [selected]);
  const here = rows.at(active);
  const moveRow = (by: number) => show(Math.max(0, Math.min(rows.count - 1, active + by)));
  const select = (block: StateBlock | undefined) => {
    if (block === undefined) return;
    view.click('allocation', { selection: block.label });
    showBlock(block);
  };
  const goTo = (cursor: number) => {
    if (device.events > 0) view.commit({ cursor });
  };
  return {
    step(events: number) {
      if (device.events === 0) return;
      view.move({ cursor: stepped(device, view.getState().view.cursor, events) });
    },
    firstEvent: () => goTo(0),
    lastEvent: () => goTo(device.events - 1),
    moveRow,
    movePage: (direction: -1 | 1) => moveRow(direction * (list.current?.rowsPerPage() ?? 1)),
    moveBlock(direction: -1 | 1) {
      const first = here?.kind === 'segment' ? here.position : (here?.group.first ?? 0);
      void find(selected, direction, first).then(select);
    },
    /** Folds or unfolds a group; in a segment, selects the first block. */
    open() {
      if (here?.kind === 'group') toggle(here.group.key);
      else if (here !== undefined) void find(-1, 1, here.position).then(select);
    },
    /** Undoes the last clicks; without any, deselects. */
    deselect() {
      if (!view.undoClick()) view.commit({ selection: undefined });
    },
  };
}
