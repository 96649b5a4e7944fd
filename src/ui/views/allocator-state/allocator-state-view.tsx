import './state.css';
import { ChevronsDownUp, ChevronsUpDown } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { SegmentGroup, SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useView } from '../../../state/stores.ts';
import type { AllocatorStateAnswer, AllocatorStateRequest } from '../../../worker/protocol.ts';
import { cursorEvent } from '../../panels/cursor/cursor-steps.ts';
import { ColorKey } from '../../plot/plot-controls.tsx';
import { useElementWidth } from '../../shared/browser.ts';
import { Button, type Option, Segmented } from '../../shared/buttons.tsx';
import { NothingReserved } from '../../shared/segment-content.tsx';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { ViewModes } from '../../shared/view-modes.tsx';
import type { RowSource } from '../../table/row-pages.ts';
import type { RowRange } from '../../table/table-scroll.ts';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { classColors, plotColors, plotStyle } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { type BarColors, useBarPointer } from './segment-bar.tsx';
import { type ListedRow, SegmentFooter, segmentColumns } from './segment-rows.tsx';
import { type StateRow, useFolding, useStateKeys } from './state-rows.ts';
import { StateSummary } from './state-summary.tsx';

const NO_GROUPS: readonly SegmentGroup[] = [];

const ORDERS: readonly Option<SegmentOrder>[] = [
  { value: 'address', label: 'Address' },
  { value: 'size', label: 'Size' },
  { value: 'free', label: 'Most free' },
];

/** In a narrower view the list leaves out a column. */
const NARROW_PX = 640;
/** Bars are asked for this many more rows on both sides, so a small step shows them at once. */
const OVERSCAN = 6;

export function View() {
  const selected = useSelectedIndex();
  const section = useRef<HTMLElement>(null);
  const barHead = useRef<HTMLTableCellElement>(null);
  const isNarrow = useElementWidth(section) <= NARROW_PX;
  const [order, setOrder] = useState<SegmentOrder>('address');
  const [at, setAt] = useState({ row: 0 });
  const [visible, setVisible] = useState<RowRange>({ from: 0, to: 0 });
  const [positions, setPositions] = useState<readonly number[]>([]);
  const barWidthPx = useElementWidth(barHead);
  const { answer, colors, event } = useAllocatorState({ order, positions, barWidthPx });
  const overview = answer.value?.overview;
  const folding = useFolding(overview?.groups ?? NO_GROUPS);
  const { rows, folded, areAllFolded } = folding;
  const near = rows.slice(Math.max(0, visible.from - OVERSCAN), visible.to + OVERSCAN);
  const wanted = near.filter((row) => typeof row === 'number');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says which positions they are
  useEffect(() => setPositions(wanted), [wanted.join(' ')]);
  const active = Math.max(0, Math.min(at.row, rows.length - 1));
  const show = (row: number) => setAt({ row });
  const rowsPerPage = Math.max(1, visible.to - visible.from - 2);
  useStateKeys({ event, order, folding, active, rowsPerPage, show });
  const pointer = useBarPointer(event, order);
  const columns = useMemo(
    () =>
      segmentColumns({
        answer: answer.value,
        colors,
        selected,
        pointer,
        barHead,
        isNarrow,
        folded,
      }),
    [answer.value, colors, selected, pointer, isNarrow, folded],
  );
  const source = useMemo(() => listed(rows, answer.value), [rows, answer.value]);
  const here = source.at?.(active);
  return (
    <section ref={section} className="view" aria-label="Allocator state">
      <div className="row toolbar-row view-toolbar">
        <ViewModes />
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
        <ColorKey label="What the bars show" entries={barKey(colors)} />
      </div>
      {answer.failure !== undefined && (
        <p className="callout state-failure" role="alert">
          The state at this event cannot be shown: {answer.failure}
        </p>
      )}
      {overview !== undefined && <StateSummary overview={overview} onPick={pointer.pickSite} />}
      {overview?.totals.segments === 0 && <NothingReserved />}
      <div className="fill state-list">
        <VirtualTable
          label="Segments"
          role="treegrid"
          takesKeys={false}
          columns={columns}
          source={source}
          rowState={(row) =>
            'key' in row
              ? { tone: 'group', level: 1, isExpanded: !folded.has(row.key) }
              : { level: 2 }
          }
          shown={{ of: at, row: active }}
          onVisible={setVisible}
          onActivate={(row, index) => {
            show(index);
            if ('key' in row) folding.toggle(row);
          }}
        />
      </div>
      {here !== undefined && 'segment' in here && <SegmentFooter row={here.segment} />}
    </section>
  );
}

const barKey = ({ pending }: BarColors) => [
  { label: 'free', color: 'var(--surface-sunken)' },
  {
    label: 'pending free',
    color: `repeating-linear-gradient(-45deg, ${pending} 0 1.5px, color-mix(in oklab, ${pending} 30%, transparent) 1.5px 4px)`,
  },
];

/** The heads of groups, and the segments that the newest answer describes. */
function listed(
  rows: readonly StateRow[],
  answer: AllocatorStateAnswer | undefined,
): RowSource<ListedRow> {
  const indexOf = new Map(answer?.positions.map((position, index) => [position, index]));
  return {
    count: rows.length,
    at(place) {
      const row = rows[place];
      if (typeof row !== 'number') return row;
      const index = indexOf.get(row) ?? -1;
      const segment = answer?.rows[index];
      return segment && { segment, position: row, index };
    },
  };
}

/** No screen has more pixels than this. */
const MOST_PIXELS = 4096;

interface Shown extends Pick<AllocatorStateRequest, 'order' | 'positions'> {
  readonly barWidthPx: number;
}

function useAllocatorState({ order, positions, barWidthPx }: Shown) {
  const { device } = useDevice();
  const { cursor, colorBy, siteColors, search, onlyMatches } = useView((view) => view);
  const theme = useTheme();
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
  const event = cursorEvent(device, cursor);
  const width = Math.min(MOST_PIXELS, Math.round(barWidthPx * window.devicePixelRatio));
  const classes = colors.classes.length;
  const request = { event, order, positions, width, colorBy, classes, search };
  return { answer: useQuery('allocatorState', request), colors, event };
}
