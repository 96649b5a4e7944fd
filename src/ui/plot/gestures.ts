/**
 * Wheel, drag and pinch on the plot.
 *
 *   wheel, pinch        zoom x at the pointer          drag          pan
 *   alt + wheel         zoom y at the pointer          shift + drag  a range to zoom to
 *   shift + wheel, or sideways: pan                    click         pick, double click: fit
 *                                                     alt + click   second cursor
 */
import type { PlotHover } from './plot-hover.ts';
import type { PlotNavigation } from './plot-navigation.ts';

export interface Point {
  /** CSS pixels from the element's left and top edges. */
  readonly x: number;
  readonly y: number;
}

/** Includes the position in the window, which saves asking for the layout. */
export interface PointerPlace extends Point {
  readonly clientX: number;
  readonly clientY: number;
}

/** A press that moves less than this is a click. */
const CLICK_SLOP = 4;
/** One notch of a wheel is 100 to 120 units and zooms by a quarter. A pinch comes in steps of a few units. */
const WHEEL_SPEED = 1 / 450;
const PINCH_SPEED = 1 / 100;
const LINE_HEIGHT = 20;

interface Drag {
  readonly start: Point;
  /** Shift was held when it began. */
  readonly isRange: boolean;
  readonly hasMoved: boolean;
}

export function listenToGestures(
  element: HTMLElement,
  plot: PlotNavigation,
  hover: Pick<PlotHover, 'setPointer' | 'setRange'>,
  signal: AbortSignal,
): void {
  let drag: Drag | undefined;
  let isClick = false;

  function onWheel(event: WheelEvent): void {
    // Keep the page from scrolling, and Ctrl with the wheel from zooming it.
    event.preventDefault();
    const at = pointOf(event);
    const { x, y } = wheelPixels(event);
    if (event.ctrlKey || event.metaKey) plot.zoomX(wheelFactor(y, true), at);
    else if (event.altKey) plot.zoomY(wheelFactor(y), at);
    else if (event.shiftKey) plot.pan({ x: -(x || y), y: 0 }, true);
    else if (Math.abs(x) > Math.abs(y)) plot.pan({ x: -x, y: 0 }, true);
    else plot.zoomX(wheelFactor(y), at);
  }

  function onDown(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary) return;
    element.setPointerCapture(event.pointerId);
    drag = { start: pointOf(event), isRange: event.shiftKey, hasMoved: false };
  }

  function onMove(event: PointerEvent): void {
    if (!event.isPrimary) return;
    const at = pointOf(event);
    if (drag === undefined) hover.setPointer(at);
    else follow(drag, at);
  }

  function follow({ start, isRange, hasMoved }: Drag, at: Point): void {
    const move = { x: at.x - start.x, y: at.y - start.y };
    if (!hasMoved) {
      if (Math.hypot(move.x, move.y) < CLICK_SLOP) return;
      drag = { start, isRange, hasMoved: true };
      element.dataset.drag = isRange ? 'range' : 'pan';
      hover.setPointer(undefined);
      plot.drag(true);
    }
    if (isRange) hover.setRange({ from: start.x, to: at.x });
    else plot.pan(move, !hasMoved);
  }

  function onUp(event: PointerEvent): void {
    if (drag === undefined) return;
    const at = pointOf(event);
    isClick = !drag.hasMoved;
    if (drag.hasMoved && drag.isRange) plot.zoomToPixels(drag.start.x, at.x);
    end();
    hover.setPointer(at);
  }

  /** Ignores the second click of a double click. */
  function onClick(event: MouseEvent): void {
    if (!isClick || event.detail > 1) return;
    const at = pointOf(event);
    if (event.altKey) plot.altClick(at);
    else void plot.click(at);
  }

  function end(): void {
    hover.setRange(undefined);
    if (drag?.hasMoved) plot.drag(false);
    drag = undefined;
    delete element.dataset.drag;
  }

  element.addEventListener('wheel', onWheel, { passive: false, signal });
  element.addEventListener('pointerdown', onDown, { signal });
  element.addEventListener('pointermove', onMove, { signal });
  element.addEventListener('pointerup', onUp, { signal });
  element.addEventListener('click', onClick, { signal });
  element.addEventListener('pointercancel', end, { signal });
  element.addEventListener('pointerleave', () => hover.setPointer(undefined), { signal });
  element.addEventListener('dblclick', () => plot.doubleClick(), { signal });
}

/** The element's children ignore the pointer, so the event's offset is from the element's edges. */
function pointOf({ offsetX, offsetY, clientX, clientY }: MouseEvent): PointerPlace {
  return { x: offsetX, y: offsetY, clientX, clientY };
}

/** The wheel over the byte axis, which is as high as the plot, zooms bytes. */
export function listenToAxisWheel(
  element: SVGElement,
  plot: PlotNavigation,
  signal: AbortSignal,
): void {
  function onWheel(event: WheelEvent): void {
    event.preventDefault();
    const y = event.clientY - element.getBoundingClientRect().top;
    plot.zoomY(wheelFactor(wheelPixels(event).y), { y });
  }
  element.addEventListener('wheel', onWheel, { passive: false, signal });
}

function wheelPixels({ deltaX, deltaY, deltaMode }: WheelEvent): Point {
  const unit = deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_HEIGHT;
  return { x: deltaX * unit, y: deltaY * unit };
}

/** A pinch arrives as wheel events with Ctrl of a few pixels; a real wheel with Ctrl of 100. */
function wheelFactor(pixels: number, mayBePinch = false): number {
  const isPinch = mayBePinch && Math.abs(pixels) < 50;
  return Math.exp(-pixels * (isPinch ? PINCH_SPEED : WHEEL_SPEED));
}
