import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RowSource } from './row-pages.ts';
import {
  clampPosition,
  isScaled,
  positionCentring,
  positionOf,
  type ScrollGeometry,
  scrollTopOf,
} from './scroll-scale.ts';

export const ROW_HEIGHT_PX = 26;
export const HEADER_HEIGHT_PX = 28;

export type TableScroll = ReturnType<typeof useTableScroll>;

/** The wanted place: pixels of rows above the upper edge, or the row in the middle, whatever the height. */
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
  const geometry: ScrollGeometry = { rowCount, rowHeightPx: ROW_HEIGHT_PX, bodyPx };
  const position =
    typeof wanted === 'number'
      ? clampPosition(geometry, wanted)
      : positionCentring(geometry, wanted.middleRow);
  const latest = useRef({ geometry, position });
  latest.current = { geometry, position };
  /** Where this hook put the scrollbar. The scroll event that follows does not come from the user. */
  const written = useRef(0);
  const mustWrite = useRef(false);

  const moveTo = useCallback((to: number) => {
    mustWrite.current = true;
    setWanted(clampPosition(latest.current.geometry, to));
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
      step.current(event.deltaY * pixelsPer(event.deltaMode, element.clientHeight));
    };
    // React's own wheel listeners are passive: they can't stop the browser's scrolling.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [scroller, isActive]);
}

function pixelsPer(deltaMode: number, pagePx: number): number {
  if (deltaMode === WheelEvent.DOM_DELTA_LINE) return ROW_HEIGHT_PX;
  return deltaMode === WheelEvent.DOM_DELTA_PAGE ? pagePx : 1;
}
