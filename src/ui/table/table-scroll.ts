import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RowSource } from './row-pages.ts';

/**
 * The position of a table of any length, and its scrollbar. Browsers limit an element to 16 to 33 million pixels of
 * height; a table of ten million rows would need 260 million. So `position`, the pixels of rows above the upper edge,
 * is the truth. The scrollbar only mirrors it: one to one up to MAX_SCROLL_PX, as a share beyond. Example: of
 * 10,000,000 rows of 26 px in a body of 600 px, the position goes to 259,999,400 and the scrollbar to 7,999,400: its
 * middle is row 5,000,000, and a wheel step still moves by 100 px of rows.
 */
const MAX_SCROLL_PX = 8_000_000;
export const ROW_HEIGHT_PX = 26;
export const HEADER_HEIGHT_PX = 28;

export interface ScrollGeometry {
  readonly rowCount: number;
  /** Height of the visible rows, without the header. */
  readonly bodyPx: number;
}

/** Rows from `from` to before `to`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

export const contentPx = ({ rowCount }: ScrollGeometry): number => rowCount * ROW_HEIGHT_PX;

export const scrollPx = (geometry: ScrollGeometry): number =>
  Math.min(contentPx(geometry), MAX_SCROLL_PX);

/** True if the scrollbar can't follow pixel by pixel, so the table must handle wheel steps itself. */
export const isScaled = (geometry: ScrollGeometry): boolean => contentPx(geometry) > MAX_SCROLL_PX;

/** The position at which the last row ends at the lower edge. */
export const lastPosition = (geometry: ScrollGeometry): number =>
  Math.max(0, contentPx(geometry) - geometry.bodyPx);

export const clampPosition = (geometry: ScrollGeometry, position: number): number =>
  Math.max(0, Math.min(position, lastPosition(geometry)));

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
  const { rowCount, bodyPx } = geometry;
  const from = Math.min(rowCount, Math.floor(position / ROW_HEIGHT_PX));
  return { from, to: Math.min(rowCount, Math.ceil((position + bodyPx) / ROW_HEIGHT_PX)) };
}

/** How many rows can be visible, in part or whole, at any position. */
export function mostVisibleRows({ bodyPx }: ScrollGeometry): number {
  return Math.ceil(bodyPx / ROW_HEIGHT_PX) + 1;
}

/** The nearest position at which a row is fully visible; if the body is lower than the row, its upper part. */
export function positionShowing(geometry: ScrollGeometry, position: number, row: number): number {
  const top = row * ROW_HEIGHT_PX;
  const lowest = Math.max(0, top + ROW_HEIGHT_PX - geometry.bodyPx);
  return clampPosition(geometry, Math.min(top, Math.max(position, lowest)));
}

/** The position with a row in the middle, if there are enough rows on both sides. */
export function positionCentring(geometry: ScrollGeometry, row: number): number {
  return clampPosition(geometry, (row + 0.5) * ROW_HEIGHT_PX - geometry.bodyPx / 2);
}

/** Where a row is whole: as near as possible if it is at most a page away, else with the row in the middle. */
export function positionRevealing(geometry: ScrollGeometry, position: number, row: number): Wish {
  const nearest = positionShowing(geometry, position, row);
  return Math.abs(nearest - position) < geometry.bodyPx ? nearest : { middleRow: row };
}

const lastScrollTop = (geometry: ScrollGeometry): number =>
  Math.max(0, scrollPx(geometry) - geometry.bodyPx);

/**
 * The row that a key leads to; undefined for a key that does not move, and in an empty table.
 * @param active undefined before a row is chosen: an arrow then chooses the first whole one instead of moving on
 */
export function rowForKey(
  key: string,
  active: number | undefined,
  geometry: ScrollGeometry,
  position: number,
): number | undefined {
  const { rowCount, bodyPx } = geometry;
  const step = active === undefined ? 0 : 1;
  // One row stays visible when a page is turned, so the eye finds its place.
  const page = Math.max(1, Math.floor(bodyPx / ROW_HEIGHT_PX) - 1);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: step,
    ArrowUp: -step,
    PageDown: page,
    PageUp: -page,
    Home: -rowCount,
    End: rowCount,
  };
  const by = steps[key];
  if (by === undefined || rowCount === 0) return undefined;
  const from = active ?? Math.ceil(position / ROW_HEIGHT_PX);
  return Math.max(0, Math.min(from + by, rowCount - 1));
}

export type TableScroll = ReturnType<typeof useTableScroll>;

/** Where to scroll: pixels of rows above the upper edge, or the row to put in the middle at any height. */
type Wish = number | { readonly middleRow: number };

/** The position among the rows, which the wheel, the scrollbar and `moveTo` change. */
export function useTableScroll(source: Pick<RowSource<unknown>, 'count' | 'start'>) {
  const { count: rowCount, start } = source;
  const scroller = useRef<HTMLDivElement>(null);
  const bodyPx = useBodyHeight(scroller);
  const [wanted, setWanted] = useState<Wish>(0);
  const [known, setKnown] = useState<object>();
  if (known !== source) {
    setKnown(source);
    // Not in an effect, which would run after the rows of the old position were requested.
    if (start !== undefined) setWanted({ middleRow: start });
  }
  const geometry: ScrollGeometry = { rowCount, bodyPx };
  const position =
    typeof wanted === 'number'
      ? clampPosition(geometry, wanted)
      : positionCentring(geometry, wanted.middleRow);
  const latest = useRef({ geometry, position });
  latest.current = { geometry, position };
  /** Where this hook put the scrollbar. The scroll event that follows does not come from the user. */
  const written = useRef(0);
  const mustWrite = useRef(false);

  const moveTo = useCallback((to: Wish) => {
    mustWrite.current = true;
    setWanted(typeof to === 'number' ? clampPosition(latest.current.geometry, to) : to);
  }, []);

  const onScroll = useCallback(() => {
    const top = scroller.current?.scrollTop ?? 0;
    const { geometry: now } = latest.current;
    if (isScaled(now) && Math.abs(top - written.current) <= 1) return;
    written.current = top;
    setWanted(positionOf(now, top));
  }, []);

  // After a move, and when the rows or the height change: the scrollbar then means another position.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these two changes are what it waits for
  useLayoutEffect(() => {
    mustWrite.current = true;
  }, [source, bodyPx]);
  useLayoutEffect(() => {
    if (!mustWrite.current || scroller.current === null || bodyPx === 0) return;
    mustWrite.current = false;
    const top = scrollTopOf(latest.current.geometry, latest.current.position);
    if (Math.abs(scroller.current.scrollTop - top) > 0.5) scroller.current.scrollTop = top;
    written.current = scroller.current.scrollTop;
  });

  useWheelSteps(scroller, isScaled(geometry), (stepPx) => moveTo(latest.current.position + stepPx));
  return { scroller, geometry, position, moveTo, onScroll };
}

/** Height of the scroller without the header and its horizontal scrollbar. */
function useBodyHeight(scroller: RefObject<HTMLDivElement | null>): number {
  const [bodyPx, setBodyPx] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => setBodyPx(Math.max(0, element.clientHeight - HEADER_HEIGHT_PX));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return bodyPx;
}

/** If the scrollbar is scaled, the browser's own wheel step would skip rows, so this replaces it. */
function useWheelSteps(
  scroller: RefObject<HTMLDivElement | null>,
  isActive: boolean,
  onStep: (stepPx: number) => void,
): void {
  const step = useRef(onStep);
  step.current = onStep;
  useEffect(() => {
    const element = scroller.current;
    if (element === null || !isActive) return;
    const onWheel = (event: WheelEvent) => {
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.ctrlKey || isSideways) return;
      event.preventDefault();
      // In pixels: browsers that scroll by lines say so only to those who ask for deltaMode first.
      step.current(event.deltaY);
    };
    // React's own wheel listeners are passive: they can't stop the browser's scrolling.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [scroller, isActive]);
}
