import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  type SyntheticEvent,
  useCallback,
  useEffect,
  useId,
  useRef,
} from 'react';
import { blankCanvas } from '../../plot/canvas.ts';
import { hideTooltip, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import type { MenuPlace } from '../../shared/menu.tsx';
import { useTheme } from '../../theme/use-theme.ts';
import { boxTooltip, type FlameFigures } from './flame-labels.ts';
import { type ArrowKey, type FlameBox, type FlameLayout, isArrowKey } from './flame-layout.ts';
import {
  type FlameScene,
  flameColors,
  LEVEL_HEIGHT_PX,
  levelAtPx,
  levelTopPx,
  paintFlame,
} from './paint-flame.ts';

interface FlameCanvasProps {
  readonly layout: FlameLayout;
  readonly figures: FlameFigures;
  readonly selected: FlameBox | undefined;
  /** Key of the group chosen in a table: its boxes are outlined. */
  readonly chosenKey?: string | undefined;
  readonly isBusy?: boolean;
  readonly label?: string;
  /** Draws the outermost box at the bottom. */
  readonly isUp?: boolean;
  readonly onSelect: (box: FlameBox) => void;
  /** Undefined zooms out completely. */
  readonly onZoom?: (path: string | undefined) => void;
  /** Asked for the menu of a box with frames, by the right button or a key. */
  readonly onMenu?: (box: FlameBox, place: MenuPlace) => void;
}

/** The boxes as an icicle, the outermost on top. Hovering renders nothing in React. */
export function FlameCanvas(props: FlameCanvasProps) {
  const { layout, figures, selected, chosenKey, isBusy = false, isUp = false } = props;
  const { label = 'Flame graph', onSelect, onZoom, onMenu } = props;
  const colors = flameColors(useTheme());
  const hint = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const hovered = useRef<FlameBox | undefined>(undefined);
  const content = useRef<TooltipContent | undefined>(undefined);
  const paint = useCallback(() => {
    if (scroller.current === null || canvas.current === null) return;
    const scene = { layout, colors, figures, selected, chosenKey, isUp, hovered: hovered.current };
    paintOn(canvas.current, scroller.current, scene);
  }, [layout, colors, figures, selected, chosenKey, isUp]);
  useEffect(() => {
    if (scroller.current === null) return;
    hovered.current = undefined;
    content.current = undefined;
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(scroller.current);
    return () => {
      observer.disconnect();
      hideTooltip();
    };
  }, [paint]);
  useReveal(scroller, layout, isUp, selected);

  const hover = (event: PointerEvent, box: FlameBox | undefined) => {
    if (box !== hovered.current) {
      hovered.current = box;
      content.current = box === undefined ? undefined : boxTooltip(box, figures);
      paint();
    }
    if (content.current === undefined) hideTooltip();
    else showTooltip(content.current, event.clientX, event.clientY, event.currentTarget);
  };

  const openMenu = (event: SyntheticEvent, box: FlameBox | undefined, at?: MouseEvent) => {
    // Without frames there is nothing to transform, and the browser's own menu may come.
    if (onMenu === undefined || box?.data.group?.kind !== 'frame') return;
    event.preventDefault();
    hideTooltip();
    onSelect(box);
    onMenu(box, at === undefined ? placeOf(box) : { x: at.clientX, y: at.clientY });
  };

  /** Below the visible part of a box. */
  const placeOf = (box: FlameBox): MenuPlace => {
    const element = scroller.current;
    if (element === null) return { x: 0, y: 0 };
    const { left, top, height } = element.getBoundingClientRect();
    const y = levelTopPx({ layout, height, isUp }, box.depth) - element.scrollTop;
    return { x: left + box.x0 * element.clientWidth, y: top + y + LEVEL_HEIGHT_PX };
  };

  return (
    <>
      <div
        ref={scroller}
        className="flame-scroller"
        data-takes-keys
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys, see onFlameKey
        tabIndex={0}
        aria-label={label}
        aria-roledescription="flame graph"
        aria-describedby={hint}
        aria-busy={isBusy}
        onScroll={paint}
        onKeyDown={(event) => {
          if (isMenuKey(event)) openMenu(event, selected);
          else onFlameKey(event, props);
        }}
        onContextMenu={(event) =>
          openMenu(event, boxUnder(event, scroller.current, layout, isUp), event)
        }
        onPointerMove={(event) => hover(event, boxUnder(event, scroller.current, layout, isUp))}
        onPointerLeave={(event) => hover(event, undefined)}
        onClick={(event) => {
          const box = boxUnder(event, scroller.current, layout, isUp);
          if (box === undefined) return;
          onSelect(box);
          if (box !== layout.root) onZoom?.(layout.zoomPathOf(box));
        }}
      >
        <div style={{ height: layout.levels.length * LEVEL_HEIGHT_PX, minHeight: '100%' }}>
          <canvas ref={canvas} className="flame-canvas" />
        </div>
      </div>
      <p id={hint} className="visually-hidden">
        Each box is a frame, or a part of a variable’s name. Its width is the memory that it and the
        boxes inside it hold. Arrow keys go from box to box.
        {onZoom && ' Enter zooms into one, Escape zooms out.'}
        {onMenu && ' Shift F10 opens the menu of the chosen box.'} The chosen box is described after
        the graph; the table has the same figures as text.
      </p>
    </>
  );
}

const ZOOM_IN: ReadonlySet<string> = new Set(['Enter', '+', '=', 'w']);
const ZOOM_OUT: ReadonlySet<string> = new Set(['Escape', '-', '_', 's']);

const FLIPPED: Readonly<Partial<Record<ArrowKey, ArrowKey>>> = {
  ArrowUp: 'ArrowDown',
  ArrowDown: 'ArrowUp',
};

const isMenuKey = ({ key, shiftKey }: KeyboardEvent): boolean =>
  key === 'ContextMenu' || (key === 'F10' && shiftKey);

function onFlameKey(event: KeyboardEvent, props: FlameCanvasProps): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { layout, selected, isUp = false, onSelect, onZoom } = props;
  const { key } = event;
  const { trail } = layout.graph;
  if (isArrowKey(key)) {
    onSelect(
      selected === undefined
        ? layout.root
        : layout.neighbor(selected, isUp ? (FLIPPED[key] ?? key) : key),
    );
  } else if (onZoom === undefined) return;
  else if (ZOOM_IN.has(key) && selected !== undefined) onZoom(layout.zoomPathOf(selected));
  else if (ZOOM_OUT.has(key) && trail.length > 0) onZoom(trail.at(-2)?.path);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function boxUnder(
  event: { readonly clientX: number; readonly clientY: number },
  scroller: HTMLElement | null,
  layout: FlameLayout,
  isUp: boolean,
): FlameBox | undefined {
  if (scroller === null) return undefined;
  const { left, top } = scroller.getBoundingClientRect();
  const y = event.clientY - top + scroller.scrollTop;
  const level = levelAtPx({ layout, height: scroller.clientHeight, isUp }, y);
  return layout.boxAt(level, (event.clientX - left) / scroller.clientWidth);
}

type OpenScene = Omit<FlameScene, 'width' | 'height' | 'scrollTop' | 'pixelRatio'>;

/** The canvas is as large as the visible part, however deep the stacks are. */
function paintOn(canvas: HTMLCanvasElement, scroller: HTMLElement, scene: OpenScene): void {
  const { clientWidth: width, clientHeight: height, scrollTop } = scroller;
  const pixelRatio = window.devicePixelRatio;
  const context = blankCanvas(canvas, width, height, pixelRatio);
  if (context === undefined) return;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  paintFlame(context, { ...scene, width, height, scrollTop, pixelRatio });
}

/** Keeps the chosen box in sight; without one, the outermost. */
function useReveal(
  scroller: RefObject<HTMLDivElement | null>,
  layout: FlameLayout,
  isUp: boolean,
  box: FlameBox | undefined,
): void {
  const shown = box ?? (isUp ? layout.root : undefined);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || shown === undefined) return;
    const { clientHeight: height } = element;
    const top = levelTopPx({ layout, height, isUp }, shown.depth);
    if (top < element.scrollTop) element.scrollTop = top;
    const lowest = top + LEVEL_HEIGHT_PX - height;
    if (lowest > element.scrollTop) element.scrollTop = lowest;
  }, [scroller, layout, isUp, shown]);
}
