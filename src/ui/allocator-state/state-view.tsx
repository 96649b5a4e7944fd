import './state.css';
import { useRef, useState } from 'react';
import type { SegmentGroup, SegmentOrder } from '../../core/allocator-state/segment-groups.ts';
import { useSelectedIndex } from '../shared/selection.ts';
import { useElementWidth } from '../shared/use-element-width.ts';
import { NothingReserved } from './nothing-reserved.tsx';
import { BAR_HEIGHT_PX } from './segment-cells.tsx';
import { SegmentFooter } from './segment-footer.tsx';
import { type ListHandle, SegmentList } from './segment-list.tsx';
import { StateSummary } from './state-summary.tsx';
import { StateToolbar } from './state-toolbar.tsx';
import { useAllocatorState } from './use-allocator-state.ts';
import { useBarPointer } from './use-bar-pointer.ts';
import { useFolding } from './use-folding.ts';
import { useStateActions } from './use-state-actions.ts';
import { useStateKeys } from './use-state-keys.ts';

const NO_GROUPS: readonly SegmentGroup[] = [];

/** Segments and blocks as the allocator had them after the cursor's event. */
export function StateView() {
  const selected = useSelectedIndex();
  const list = useRef<ListHandle>(null);
  const barHead = useRef<HTMLTableCellElement>(null);
  const tooltip = useRef<HTMLDivElement>(null);
  const [order, setOrder] = useState<SegmentOrder>('address');
  const [activeRow, setActive] = useState(0);
  const barWidthPx = useElementWidth(barHead);
  const { answer, colors, event, setPositions } = useAllocatorState(order, barWidthPx);
  const overview = answer.value?.overview;
  const { rows, toggle, areAllFolded, toggleAll } = useFolding(overview?.groups ?? NO_GROUPS);
  const active = Math.max(0, Math.min(activeRow, rows.count - 1));
  const place = { event, order, rows, active, selected, list, setActive, toggle };
  useStateKeys(useStateActions(place));
  const pointer = useBarPointer({ event, order }, tooltip);
  const here = rows.at(active);
  const shownAt =
    here?.kind === 'segment' ? answer.value?.positions.indexOf(here.position) : undefined;
  const activeSegment = shownAt === undefined ? undefined : answer.value?.rows[shownAt];
  return (
    <section className="state-view" aria-label="Allocator state">
      <StateToolbar
        order={order}
        onOrder={setOrder}
        areAllFolded={areAllFolded}
        onFoldAll={toggleAll}
      />
      {answer.failure !== undefined && (
        <p className="state-failure" role="alert">
          The state at this event cannot be shown: {answer.failure}
        </p>
      )}
      {overview !== undefined && <StateSummary overview={overview} onPick={pointer.pickSite} />}
      {overview?.totals.segments === 0 && <NothingReserved />}
      <SegmentList
        answer={answer.value}
        rows={rows}
        active={active}
        colors={colors}
        barHeightPx={Math.round(BAR_HEIGHT_PX * window.devicePixelRatio)}
        selected={selected}
        handle={list}
        barHead={barHead}
        onPositions={setPositions}
        onActivate={setActive}
        onToggle={toggle}
        onHover={pointer.hover}
        onPick={pointer.pick}
      />
      {activeSegment !== undefined && <SegmentFooter row={activeSegment} />}
      <div ref={tooltip} className="tooltip" role="tooltip" hidden />
    </section>
  );
}
