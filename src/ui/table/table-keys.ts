/** Which row a key leads to from another. */
export interface RowPlace {
  /** Undefined before any row was chosen. */
  readonly active: number | undefined;
  readonly rowCount: number;
  readonly rowsPerPage: number;
  /** The uppermost row that is all visible: where keys begin. */
  readonly firstVisible: number;
}

/** Undefined for a key that does not move, and in an empty table. */
export function rowForKey(key: string, place: RowPlace): number | undefined {
  const { active, rowCount, rowsPerPage, firstVisible } = place;
  if (rowCount === 0) return undefined;
  const within = (row: number) => Math.max(0, Math.min(row, rowCount - 1));
  // Nothing is chosen yet: an arrow chooses a row instead of moving on from one.
  const from = active ?? firstVisible;
  const step = active === undefined ? 0 : 1;
  switch (key) {
    case 'ArrowDown':
      return within(from + step);
    case 'ArrowUp':
      return within(from - step);
    case 'PageDown':
      return within(from + rowsPerPage);
    case 'PageUp':
      return within(from - rowsPerPage);
    case 'Home':
      return 0;
    case 'End':
      return rowCount - 1;
    default:
      return undefined;
  }
}
