import { type ReactNode, useMemo } from 'react';
import {
  aboveText,
  CURVE_POINTS,
  type JobView,
  type RankRow,
} from '../../../analysis/ranks/job-view.ts';
import { numbersText } from '../../../analysis/ranks/problems.ts';
import { highest } from '../../../base/extremes.ts';
import { plural } from '../../../base/format.ts';
import { peakText } from '../../../device/model/main-device.ts';
import { rowsAtHand } from '../../table/row-pages.ts';
import { type Column, columnsIn } from '../../table/table-row.tsx';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { plotStyle, type ThemeName } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { type Paint, Painted, paintBar, paintStrip } from './heat-map.tsx';

interface RankListProps {
  readonly job: JobView;
  readonly items: readonly ListItem[];
  readonly selected: number | undefined;
  readonly onSelect: (rank: number) => void;
  readonly onOpen: (rank: number) => void;
}

/** One row per rank, under a heading per role if grouped. Arrow keys select. */
export function RankList({ job, items, selected, onSelect, onOpen }: RankListProps) {
  const theme = useTheme();
  const columns = useMemo(() => rankColumns(job, theme), [job, theme]);
  const source = useMemo(() => rowsAtHand(items), [items]);
  const isSelected = (item: ListItem) => item.kind === 'rank' && item.row.rank === selected;
  const withRank = (act: (rank: number) => void) => (item: ListItem | undefined) => {
    if (item?.kind === 'rank') act(item.row.rank);
  };
  return (
    <div className="ranks-list">
      <VirtualTable
        label="Ranks"
        columns={columns}
        source={source}
        shown={{ of: selected, row: items.findIndex(isSelected) }}
        rowState={(item) => ({ isSelected: isSelected(item) })}
        onActivate={withRank(onSelect)}
        onMove={(index) => withRank(onSelect)(items[index])}
        onOpen={withRank(onOpen)}
      />
    </div>
  );
}

const CANVAS_HEIGHT_PX = 20;

const WORDS = {
  rank: ['Rank'],
  role: ['Role', 'Ranks that run the same lines have the same role'],
  bar: [
    'Peak by class',
    "Allocated bytes at the rank's peak; the tick is the peak of reserved bytes",
  ],
  strip: ['Over time', 'Allocated bytes over the recording'],
  peak: ['Peak'],
  above: ['Above role', 'Above the median of the ranks that do the same work'],
  notes: [''],
} as const;

function rankColumns(job: JobView, theme: ThemeName): readonly Column<ListItem>[] {
  // The maximum over all ranks, so bars can be compared by eye.
  const scaleBytes = highest(
    job.ranks.flatMap((row) => [1, row.allocatedBytes ?? 0, row.reservedBytes ?? 0]),
  );
  const { accent } = plotStyle(theme);
  const { text, figure } = columnsIn<ListItem, keyof typeof WORDS>(WORDS);
  const ofRank = (cell: (row: RankRow, index: number) => ReactNode) => (item: ListItem) =>
    item.kind === 'rank' && cell(item.row, item.index);
  const painted = (paint: Paint) => <Painted paint={paint} height={CANVAS_HEIGHT_PX} />;
  const rank = (item: ListItem) =>
    item.kind === 'role' ? (
      <RoleHead job={job} role={item.role} />
    ) : (
      <strong data-rank={item.row.rank}>
        {item.row.rank}
        {item.row.isCounted && <span title={COUNTED}> ?</span>}
      </strong>
    );
  const role = ofRank((row) => (
    <span className="small one-line role-chip" title={job.roles[row.role]?.about}>
      {job.roles[row.role]?.name}
    </span>
  ));
  const bar = ofRank((row) => painted(paintBar({ ...row, scaleBytes }, theme)));
  const strip = ofRank((_, index) => {
    const curve = job.curves.subarray(index * CURVE_POINTS, (index + 1) * CURVE_POINTS);
    return painted(paintStrip(curve, scaleBytes, accent));
  });
  const peak = ofRank((row) => peakText(row.allocatedBytes ?? Number.NaN, row.recording));
  const above = ofRank((row) => <span data-far={row.outlier && true}>{aboveText(row)}</span>);
  const notes = ofRank((row) => <RankNotes row={row} />);
  return [
    text('rank', 62, rank),
    text('role', 64, role),
    text('bar', 110, bar, { grow: 1.3 }),
    text('strip', 110, strip, { grow: 1 }),
    figure('peak', 84, peak),
    ...(job.ranks.some((row) => aboveText(row) !== '')
      ? [figure('above', 96, above, job.ranks.length === 2 ? { header: 'Above other' } : {})]
      : []),
    text('notes', 118, notes),
  ];
}

const COUNTED = 'No name says which rank this is, so it was numbered in order';

function RankNotes({ row: { outlier, ooms } }: { readonly row: RankRow }) {
  return (
    <>
      {outlier !== undefined && (
        <span className="chip" data-tone="warning">
          {outlier.cause}
        </span>
      )}{' '}
      {ooms > 0 && (
        <span className="chip" data-tone="danger">
          {plural(ooms, 'OOM')}
        </span>
      )}
    </>
  );
}

/** Spans the whole row. */
function RoleHead({ job, role }: { readonly job: JobView; readonly role: number }) {
  const own = job.roles[role];
  if (own === undefined) return undefined;
  return (
    <span className="dim one-line role-head">
      <span className="small one-line role-chip">{own.name}</span>{' '}
      {plural(own.ranks.length, 'rank')} ({numbersText(own.ranks)}): {own.about}
    </span>
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
