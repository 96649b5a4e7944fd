import './state.css';
import { ChevronsDownUp, ChevronsUpDown } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { SegmentGroup, SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useView } from '../../../state/stores.ts';
import type { AllocatorStateRequest } from '../../../worker/protocol.ts';
import { cursorEvent } from '../../panels/cursor/cursor-steps.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { Button, type Option, Segmented } from '../../shared/buttons.tsx';
import { NothingReserved } from '../../shared/segment-content.tsx';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery, type WithoutDevice } from '../../shared/use-query.ts';
import { classColors, plotColors, plotStyle } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { type BarColors, useBarPointer } from './segment-bar.tsx';
import { type ListHandle, SegmentList, useFolding } from './segment-list.tsx';
import { SegmentFooter } from './segment-rows.tsx';
import { useStateKeys } from './state-keys.ts';
import { StateSummary } from './state-summary.tsx';

/** Device pixels of a bar's height at a ratio of 1. */
const BAR_HEIGHT_PX = 18;

const NO_GROUPS: readonly SegmentGroup[] = [];

const ORDERS: readonly Option<SegmentOrder>[] = [
  { value: 'address', label: 'Address' },
  { value: 'size', label: 'Size' },
  { value: 'free', label: 'Most free' },
];

export function View() {
  const selected = useSelectedIndex();
  const list = useRef<ListHandle>(null);
  const barHead = useRef<HTMLTableCellElement>(null);
  const [order, setOrder] = useState<SegmentOrder>('address');
  const [activeRow, setActive] = useState(0);
  const barWidthPx = useElementWidth(barHead);
  const { answer, colors, event, setPositions } = useAllocatorState(order, barWidthPx);
  const overview = answer.value?.overview;
  const folding = useFolding(overview?.groups ?? NO_GROUPS);
  const { rows, areAllFolded } = folding;
  const active = Math.max(0, Math.min(activeRow, rows.length - 1));
  useStateKeys({ event, order, folding, active, selected, list, setActive });
  const pointer = useBarPointer(event, order);
  const here = rows[active];
  const shownAt = typeof here === 'number' ? answer.value?.positions.indexOf(here) : undefined;
  const activeSegment = shownAt === undefined ? undefined : answer.value?.rows[shownAt];
  return (
    <section className="view" aria-label="Allocator state">
      <div className="row toolbar-row view-toolbar">
        <span className="dim">Order</span>
        <Segmented
          label="Order of the segments"
          value={order}
          options={ORDERS}
          onChange={setOrder}
        />
        <Button icon={areAllFolded ? ChevronsUpDown : ChevronsDownUp} onClick={folding.toggleAll}>
          {areAllFolded ? 'Unfold all' : 'Fold all'}
        </Button>
        <span className="spacer" />
        <ul className="color-key" aria-label="What the bars show">
          <li>
            <span className="legend-free" aria-hidden /> free
          </li>
          <li>
            <span className="legend-pending" aria-hidden /> pending free
          </li>
        </ul>
      </div>
      {answer.failure !== undefined && (
        <p className="callout state-failure" role="alert">
          The state at this event cannot be shown: {answer.failure}
        </p>
      )}
      {overview !== undefined && <StateSummary overview={overview} onPick={pointer.pickSite} />}
      {overview?.totals.segments === 0 && <NothingReserved />}
      <SegmentList
        answer={answer.value}
        folding={folding}
        active={active}
        look={{ colors, heightPx: Math.round(BAR_HEIGHT_PX * window.devicePixelRatio), selected }}
        pointer={pointer}
        handle={list}
        barHead={barHead}
        onPositions={setPositions}
        onActivate={setActive}
      />
      {activeSegment !== undefined && <SegmentFooter row={activeSegment} />}
    </section>
  );
}

/** No screen has more pixels than this. */
const MOST_PIXELS = 4096;

function useAllocatorState(order: SegmentOrder, barWidthPx: number) {
  const { device } = useDevice();
  const cursor = useView((view) => view.cursor);
  const colorBy = useView((view) => view.colorBy);
  const siteColors = useView((view) => view.siteColors);
  const search = useView((view) => view.search);
  const onlyMatches = useView((view) => view.onlyMatches);
  const theme = useTheme();
  const [positions, setPositions] = useState<readonly number[]>([]);
  const colors = useMemo((): BarColors => {
    const { pending, background, thin } = plotColors(theme);
    return {
      classes: classColors(theme, colorBy, siteColors),
      pending,
      unmatched: onlyMatches ? thin : undefined,
      edge: background,
      selection: plotStyle(theme).ink,
    };
  }, [theme, colorBy, siteColors, onlyMatches]);
  /** The event whose state is requested: the cursor's, or the last. */
  const event = cursorEvent(device, cursor);
  const width = Math.min(MOST_PIXELS, Math.round(barWidthPx * window.devicePixelRatio));
  const request: WithoutDevice<AllocatorStateRequest> = {
    event,
    order,
    positions,
    width,
    colorBy,
    classes: colors.classes.length,
    search,
  };
  return { answer: useQuery('allocatorState', request), colors, event, setPositions };
}
