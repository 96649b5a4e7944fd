/**
 * The position of a table of any length, and its scrollbar. Browsers limit an element to 16 to 33 million pixels of
 * height; a table of ten million rows would need 260 million. So `position`, the pixels of rows above the upper edge,
 * is the truth. The scrollbar only mirrors it: one to one up to MAX_SCROLL_PX, as a share beyond. Example: of
 * 10,000,000 rows of 26 px in a body of 600 px, the position goes to 259,999,400 and the scrollbar to 7,999,400: its
 * middle is row 5,000,000, and a wheel step still moves by 100 px of rows.
 */
const MAX_SCROLL_PX = 8_000_000;

export interface ScrollGeometry {
  readonly rowCount: number;
  readonly rowHeightPx: number;
  /** Height of the visible rows, without the header. */
  readonly bodyPx: number;
}

/** Rows from `from` to before `to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

export function contentPx({ rowCount, rowHeightPx }: ScrollGeometry): number {
  return rowCount * rowHeightPx;
}

/** Height of the scrolled element. */
export function scrollPx(geometry: ScrollGeometry): number {
  return Math.min(contentPx(geometry), MAX_SCROLL_PX);
}

/** True if the scrollbar can't follow pixel by pixel, so the table must handle wheel steps itself. */
export function isScaled(geometry: ScrollGeometry): boolean {
  return contentPx(geometry) > MAX_SCROLL_PX;
}

/** The position at which the last row ends at the lower edge. */
export function lastPosition(geometry: ScrollGeometry): number {
  return Math.max(0, contentPx(geometry) - geometry.bodyPx);
}

export function clampPosition(geometry: ScrollGeometry, position: number): number {
  return Math.max(0, Math.min(position, lastPosition(geometry)));
}

/** The position that the scrollbar shows. Its ends, which browsers round by up to a pixel, are the table's ends. */
export function positionOf(geometry: ScrollGeometry, scrollTop: number): number {
  const lastTop = lastScrollTop(geometry);
  if (scrollTop <= 0) return 0;
  if (scrollTop > lastTop - 1) return lastPosition(geometry);
  return (scrollTop / lastTop) * lastPosition(geometry);
}

export function scrollTopOf(geometry: ScrollGeometry, position: number): number {
  const last = lastPosition(geometry);
  return last === 0 ? 0 : (position / last) * lastScrollTop(geometry);
}

/** The rows that are at least partly visible. */
export function visibleRows(geometry: ScrollGeometry, position: number): RowRange {
  const { rowCount, rowHeightPx, bodyPx } = geometry;
  const from = Math.min(rowCount, Math.floor(position / rowHeightPx));
  return { from, to: Math.min(rowCount, Math.ceil((position + bodyPx) / rowHeightPx)) };
}

/** How many rows can be visible, in part or whole, at any position. */
export function mostVisibleRows({ rowHeightPx, bodyPx }: ScrollGeometry): number {
  return Math.ceil(bodyPx / rowHeightPx) + 1;
}

/** The nearest position at which a row is fully visible; if the body is lower than the row, its upper part. */
export function positionShowing(geometry: ScrollGeometry, position: number, row: number): number {
  const { rowHeightPx, bodyPx } = geometry;
  const top = row * rowHeightPx;
  const lowest = Math.max(0, top + rowHeightPx - bodyPx);
  return clampPosition(geometry, Math.min(top, Math.max(position, lowest)));
}

/** The position with a row in the middle, if there are enough rows on both sides. */
export function positionCentring(geometry: ScrollGeometry, row: number): number {
  const { rowHeightPx, bodyPx } = geometry;
  return clampPosition(geometry, (row + 0.5) * rowHeightPx - bodyPx / 2);
}

/** Whole rows per page turn: one row stays visible, so the eye finds its place. */
export function rowsPerPage({ rowHeightPx, bodyPx }: ScrollGeometry): number {
  return Math.max(1, Math.floor(bodyPx / rowHeightPx) - 1);
}

function lastScrollTop(geometry: ScrollGeometry): number {
  return Math.max(0, scrollPx(geometry) - geometry.bodyPx);
}

/** What decides which row a key leads to. */
interface RowPlace {
  /** Undefined before a row is chosen. */
  readonly active: number | undefined;
  readonly rowCount: number;
  readonly rowsPerPage: number;
  /** The first fully visible row: where keys begin. */
  readonly firstVisible: number;
}

/** Undefined for a key that does not move, and in an empty table. */
export function rowForKey(key: string, place: RowPlace): number | undefined {
  const { active, rowCount, rowsPerPage, firstVisible } = place;
  if (rowCount === 0) return undefined;
  const within = (row: number) => Math.max(0, Math.min(row, rowCount - 1));
  // Nothing is chosen yet: an arrow chooses the first row instead of moving on.
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
