import { type ReactNode, useMemo } from 'react';
import { CURVE_POINTS, type JobView, type RankRow } from '../../../analysis/ranks/job-view.ts';
import { numbersText } from '../../../analysis/ranks/problems.ts';
import { aboveText } from '../../../analysis/ranks/ranks-report.ts';
import { highest } from '../../../base/extremes.ts';
import { formatBytes, plural } from '../../../base/format.ts';
import { rowsAtHand } from '../../table/row-pages.ts';
import type { Column } from '../../table/table-row.tsx';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { plotStyle, type ThemeName } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { Painted, paintBar, paintStrip } from './heat-map.tsx';

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
  const withRank = (act: (rank: number) => void) => (item: ListItem | undefined) => {
    if (item?.kind === 'rank') act(item.row.rank);
  };
  return (
    <div className="ranks-list">
      <VirtualTable
        label="Ranks"
        columns={columns}
        source={source}
        empty={undefined}
        rowState={(item) => ({ isSelected: item.kind === 'rank' && item.row.rank === selected })}
        onActivate={withRank(onSelect)}
        onMove={(index) => withRank(onSelect)(items[index])}
        onOpen={withRank(onOpen)}
      />
    </div>
  );
}

const CANVAS_HEIGHT_PX = 20;

function rankColumns(job: JobView, theme: ThemeName): readonly Column<ListItem>[] {
  // The maximum over all ranks, so bars can be compared by eye.
  const scaleBytes = highest(
    job.ranks.flatMap((row) => [1, row.allocatedBytes ?? 0, row.reservedBytes ?? 0]),
  );
  const curveColor = plotStyle(theme).accent;
  const column = (
    id: string,
    header: string,
    widthPx: number,
    cell: (row: RankRow, index: number) => ReactNode,
    more?: Partial<Column<ListItem>>,
  ): Column<ListItem> => ({
    id,
    header,
    widthPx,
    render: (item) => item.kind === 'rank' && cell(item.row, item.index),
    ...more,
  });
  const rank = column('rank', 'Rank', 62, (row) => (
    <span className="rank-number" data-rank={row.rank}>
      {row.rank}
      {row.isCounted && <span title="No name says which rank this is: it was counted"> ?</span>}
    </span>
  ));
  return [
    {
      ...rank,
      render: (item, at) =>
        item.kind === 'role' ? <RoleHead job={job} role={item.role} /> : rank.render(item, at),
    },
    column('role', 'Role', 64, (row) => (
      <span className="small one-line role-chip" title={job.roles[row.role]?.about}>
        {job.roles[row.role]?.name}
      </span>
    )),
    column(
      'bar',
      'Peak by class',
      110,
      (row) => (
        <Painted paint={paintBar({ ...row, scaleBytes }, theme)} height={CANVAS_HEIGHT_PX} />
      ),
      {
        title: "Allocated bytes at the rank's peak; the tick is the peak of reserved bytes",
        grow: 1.3,
      },
    ),
    column(
      'strip',
      'Over time',
      110,
      (_, index) => {
        const curve = job.curves.subarray(index * CURVE_POINTS, (index + 1) * CURVE_POINTS);
        return (
          <Painted paint={paintStrip(curve, scaleBytes, curveColor)} height={CANVAS_HEIGHT_PX} />
        );
      },
      { title: 'Allocated bytes over the recording', grow: 1 },
    ),
    column('peak', 'Peak', 84, (row) => formatBytes(row.allocatedBytes ?? Number.NaN), {
      align: 'end',
    }),
    column(
      'above',
      job.ranks.length === 2 ? 'Above other' : 'Above role',
      96,
      (row) => <span data-far={row.outlier && true}>{aboveText(row)}</span>,
      { title: 'Above the middle of ranks that do the same', align: 'end' },
    ),
    column('notes', '', 118, ({ outlier, ooms }) => (
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
    )),
  ];
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
