import { type RefObject, useEffect } from 'react';
import type { SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useStores } from '../../../state/stores.ts';
import type { StateBlock } from '../../../worker/handlers/allocator-state.ts';
import { stepped } from '../../panels/cursor/cursor-steps.ts';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import type { ListHandle } from './segment-list.tsx';
import type { StateActions } from './state-keys.ts';
import type { StateRows } from './state-rows.ts';

export interface StatePlace {
  readonly event: number;
  readonly order: SegmentOrder;
  readonly rows: StateRows;
  /** The row that keys act on. */
  readonly active: number;
  readonly selected: number;
  readonly list: RefObject<ListHandle | null>;
  readonly setActive: (row: number) => void;
  readonly toggle: (key: string) => void;
}

/** What the keys do to the view, see state-keys.ts. */
export function useStateActions(place: StatePlace): StateActions {
  const { event, order, rows, active, selected, list, setActive, toggle } = place;
  const { view } = useStores();
  const { device } = useDevice();
  const ask = useAsk();
  const showBlock = (block: StateBlock | undefined) => {
    const row = block && rows.rowOf(block.position);
    if (row === undefined) return;
    setActive(row);
    list.current?.show(row);
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
  const moveTo = (row: number) => {
    const within = Math.max(0, Math.min(rows.count - 1, row));
    setActive(within);
    list.current?.show(within);
  };
  const select = (block: StateBlock | undefined) => {
    if (block === undefined) return;
    view.click('allocation', { selection: block.label });
    showBlock(block);
  };
  const goTo = (event: number) => {
    if (device.events > 0) view.commit({ cursor: event });
  };
  const firstPlace = here?.kind === 'segment' ? here.position : (here?.group.first ?? 0);
  return {
    step(events) {
      if (device.events === 0) return;
      view.move({ cursor: stepped(device, view.getState().view.cursor, events) });
    },
    firstEvent: () => goTo(0),
    lastEvent: () => goTo(device.events - 1),
    moveRow: (by) => moveTo(active + by),
    movePage: (direction) => moveTo(active + direction * (list.current?.rowsPerPage() ?? 1)),
    moveBlock: (direction) => void find(selected, direction, firstPlace).then(select),
    open: () => {
      if (here?.kind === 'group') toggle(here.group.key);
      else if (here !== undefined) void find(-1, 1, here.position).then(select);
    },
    deselect: () => view.undoClick() || view.commit({ selection: undefined }),
  };
}
