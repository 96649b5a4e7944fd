import '../../shared/row-list.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useMemo, useRef } from 'react';
import { CURVE_POINTS, type JobView, type RankRow } from '../../../analysis/ranks/job-view.ts';
import { numbersText } from '../../../analysis/ranks/problems.ts';
import { aboveText } from '../../../analysis/ranks/ranks-report.ts';
import { highest } from '../../../base/extremes.ts';
import { formatBytes, plural } from '../../../base/format.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { Painted, paintBar, paintStrip } from './heat-map.tsx';

const ROW_HEIGHT_PX = 30;
const HEAD_HEIGHT_PX = 28;
const OVERSCAN = 8;

interface RankListProps {
  readonly job: JobView;
  readonly items: readonly ListItem[];
  readonly selected: number | undefined;
  readonly onSelect: (rank: number) => void;
  readonly onOpen: (rank: number) => void;
}

/** One row per rank. Only the rows on screen are in the DOM. */
export function RankList({ job, items, selected, onSelect, onOpen }: RankListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const barHead = useRef<HTMLTableCellElement>(null);
  const stripHead = useRef<HTMLTableCellElement>(null);
  const barWidth = useElementWidth(barHead);
  const stripWidth = useElementWidth(stripHead);
  const scaleBytes = useMemo(() => scaleOf(job), [job]);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD_HEIGHT_PX,
  });
  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' && selected !== undefined) onOpen(selected);
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = nextRank(items, selected, by);
    if (next === undefined) return;
    onSelect(next.rank);
    virtualizer.scrollToIndex(next.index, { align: 'auto' });
  }
  return (
    <div ref={scroller} className="ranks-scroller">
      <table
        className="row-list"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table that takes keys
        role="grid"
        aria-label="Ranks"
        aria-rowcount={items.length + 1}
        data-takes-keys
        tabIndex={0}
        style={{ height: HEAD_HEIGHT_PX + virtualizer.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        <thead>
          <tr className="ranks-grid ranks-head">
            <th scope="col">Rank</th>
            <th scope="col">Role</th>
            <th
              scope="col"
              ref={barHead}
              title="Allocated bytes at the rank's peak; the tick is the peak of reserved bytes"
            >
              Peak by class
            </th>
            <th scope="col" ref={stripHead} title="Allocated bytes over the recording">
              Over time
            </th>
            <th scope="col" className="figure">
              Peak
            </th>
            <th scope="col" className="figure" title="Above the middle of ranks that do the same">
              {job.ranks.length === 2 ? 'Above other' : 'Above role'}
            </th>
            <th scope="col" />
          </tr>
        </thead>
        <tbody>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const item = items[index];
            if (item === undefined) return undefined;
            const style = { transform: `translateY(${start}px)` };
            if (item.kind === 'role') {
              return (
                <tr
                  key={`role ${item.role}`}
                  className="dim ranks-row one-line ranks-role"
                  style={style}
                >
                  <td colSpan={7}>
                    <RoleHead job={job} role={item.role} />
                  </td>
                </tr>
              );
            }
            const { row } = item;
            return (
              <tr
                key={row.rank}
                className="ranks-grid ranks-row"
                data-rank={row.rank}
                data-selected={row.rank === selected || undefined}
                aria-selected={row.rank === selected}
                aria-rowindex={index + 2}
                style={style}
                onClick={() => onSelect(row.rank)}
                onDoubleClick={() => onOpen(row.rank)}
              >
                <RankCells
                  job={job}
                  row={row}
                  index={item.index}
                  barWidth={barWidth}
                  stripWidth={stripWidth}
                  scaleBytes={scaleBytes}
                />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const KEYS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
  Home: -Infinity,
  End: Infinity,
};

/** The rank that many rows away, skipping role headings. */
function nextRank(
  items: readonly ListItem[],
  selected: number | undefined,
  by: number,
): { readonly rank: number; readonly index: number } | undefined {
  const ranks = items.flatMap((item, index) =>
    item.kind === 'rank' ? [{ rank: item.row.rank, index }] : [],
  );
  const at = ranks.findIndex(({ rank }) => rank === selected);
  return ranks[Math.min(ranks.length - 1, Math.max(0, at + by))];
}

/** The maximum over all ranks, so bars can be compared by eye. */
const scaleOf = ({ ranks }: JobView): number =>
  highest(ranks.flatMap((row) => [1, row.allocatedBytes ?? 0, row.reservedBytes ?? 0]));

function RoleHead({ job, role }: { readonly job: JobView; readonly role: number }) {
  const own = job.roles[role];
  if (own === undefined) return undefined;
  return (
    <>
      <span className="small one-line role-chip">{own.name}</span>{' '}
      {plural(own.ranks.length, 'rank')} ({numbersText(own.ranks)}): {own.about}
    </>
  );
}

interface RankCellsProps {
  readonly job: JobView;
  readonly row: RankRow;
  readonly index: number;
  readonly barWidth: number;
  readonly stripWidth: number;
  readonly scaleBytes: number;
}

function RankCells({ job, row, index, barWidth, stripWidth, scaleBytes }: RankCellsProps) {
  const theme = useTheme();
  const { outlier } = row;
  const role = job.roles[row.role];
  const bar = useMemo(() => paintBar({ ...row, scaleBytes }, theme), [row, scaleBytes, theme]);
  const strip = useMemo(() => {
    const curve = job.curves.subarray(index * CURVE_POINTS, (index + 1) * CURVE_POINTS);
    return paintStrip(curve, scaleBytes, theme === 'dark' ? '#5cb3ff' : '#0b62cc');
  }, [job, index, scaleBytes, theme]);
  return (
    <>
      <td className="rank-number">
        {row.rank}
        {row.isCounted && <span title="No name says which rank this is: it was counted"> ?</span>}
      </td>
      <td>
        <span className="small one-line role-chip" title={role?.about}>
          {role?.name}
        </span>
      </td>
      <td>
        <Painted paint={bar} width={barWidth} height={ROW_HEIGHT_PX - 8} />
      </td>
      <td>
        <Painted paint={strip} width={stripWidth} height={ROW_HEIGHT_PX - 8} />
      </td>
      <td className="figure">{formatBytes(row.allocatedBytes ?? Number.NaN)}</td>
      <td className="figure" data-far={outlier !== undefined || undefined}>
        {aboveText(row)}
      </td>
      <td className="rank-marks">
        {outlier !== undefined && (
          <span className="chip" data-tone="warning">
            {outlier.cause}
          </span>
        )}
        {row.ooms > 0 && (
          <span className="chip" data-tone="danger">
            {plural(row.ooms, 'OOM')}
          </span>
        )}
      </td>
    </>
  );
}

export const ORDERS = [
  { value: 'rank', label: 'Rank' },
  { value: 'peak', label: 'Peak' },
  { value: 'distance', label: 'Distance from its role' },
] as const;
export type RankOrder = (typeof ORDERS)[number]['value'];

/** A row of the list; `index` is the rank's position in `job.ranks`. */
export type ListItem =
  | { readonly kind: 'role'; readonly role: number }
  | { readonly kind: 'rank'; readonly index: number; readonly row: RankRow };

/** Sorting by distance puts outliers first: a growing rank is an outlier before it is far off. */
export function listItems(job: JobView, order: RankOrder, isGrouped: boolean): ListItem[] {
  const keyOf = (row: RankRow): number => {
    if (order === 'rank') return -row.rank;
    if (order === 'peak') return row.allocatedBytes ?? -1;
    return row.outlier === undefined
      ? Math.abs(row.aboveRoleBytes ?? 0)
      : 2 ** 60 + row.outlier.aboveRoleBytes;
  };
  const ranks = job.ranks
    .map((row, index): ListItem & { kind: 'rank' } => ({ kind: 'rank', index, row }))
    .sort((a, b) => keyOf(b.row) - keyOf(a.row) || a.row.rank - b.row.rank);
  if (!isGrouped) return ranks;
  return job.roles.flatMap((_, role): ListItem[] => [
    { kind: 'role', role },
    ...ranks.filter(({ row }) => row.role === role),
  ]);
}
