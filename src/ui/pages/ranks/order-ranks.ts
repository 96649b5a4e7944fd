/** In which order ranks are listed. */
import type { JobView, RankRow } from '../../../worker/ranks/protocol.ts';

export const ORDERS = ['rank', 'peak', 'distance'] as const;
export type RankOrder = (typeof ORDERS)[number];

export const ORDER_LABELS: Readonly<Record<RankOrder, string>> = {
  rank: 'Rank',
  peak: 'Peak',
  distance: 'Distance from its role',
};

/** A line of the list; `index` is the rank's position in `job.ranks`. */
export type ListItem =
  | { readonly kind: 'role'; readonly role: number }
  | { readonly kind: 'rank'; readonly index: number; readonly row: RankRow };

/** Outliers first where ranks are ordered by distance: one that grows is one before it is far. */
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
