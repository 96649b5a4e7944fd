import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
} from 'react';
import { blankCanvas } from '../../plot/canvas.ts';
import { hideTooltip, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { boxTooltip, type FlameFigures } from './flame-labels.ts';
import { type FlameBox, type FlameLayout, isArrowKey } from './flame-layout.ts';
import { type FlameScene, flameColors, LEVEL_HEIGHT_PX, paintFlame } from './paint-flame.ts';

interface FlameCanvasProps {
  readonly layout: FlameLayout;
  readonly figures: FlameFigures;
  readonly selected: FlameBox | undefined;
  /** Key of the group chosen in a table: its boxes are outlined. */
  readonly chosenKey?: string | undefined;
  readonly isBusy?: boolean;
  readonly onSelect: (box: FlameBox) => void;
  /** Undefined zooms out completely. */
  readonly onZoom: (path: string | undefined) => void;
}

/** The boxes as an icicle, the outermost on top. Hovering renders nothing in React. */
export function FlameCanvas(props: FlameCanvasProps) {
  const { layout, figures, selected, chosenKey, isBusy = false, onSelect, onZoom } = props;
  const colors = flameColors(useTheme());
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const hovered = useRef<FlameBox | undefined>(undefined);
  const content = useRef<TooltipContent | undefined>(undefined);
  const paint = useCallback(() => {
    if (scroller.current === null || canvas.current === null) return;
    const scene = { layout, colors, figures, selected, chosenKey, hovered: hovered.current };
    paintOn(canvas.current, scroller.current, scene);
  }, [layout, colors, figures, selected, chosenKey]);
  useEffect(() => {
    if (scroller.current === null) return;
    hovered.current = undefined;
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(scroller.current);
    return () => {
      observer.disconnect();
      hideTooltip();
    };
  }, [paint]);
  useReveal(scroller, selected);

  const hover = (event: PointerEvent, box: FlameBox | undefined) => {
    if (box !== hovered.current) {
      hovered.current = box;
      content.current = box === undefined ? undefined : boxTooltip(box, figures);
      paint();
    }
    if (content.current === undefined) hideTooltip();
    else showTooltip(content.current, event.clientX, event.clientY);
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
        aria-label="Flame graph"
        aria-roledescription="flame graph"
        aria-describedby="flame-hint"
        aria-busy={isBusy}
        onScroll={paint}
        onKeyDown={(event) => onFlameKey(event, props)}
        onPointerMove={(event) => hover(event, boxUnder(event, scroller.current, layout))}
        onPointerLeave={(event) => hover(event, undefined)}
        onClick={(event) => {
          const box = boxUnder(event, scroller.current, layout);
          if (box === undefined) return;
          onSelect(box);
          if (box !== layout.root) onZoom(layout.zoomPathOf(box));
        }}
      >
        <div style={{ height: layout.levels.length * LEVEL_HEIGHT_PX }}>
          <canvas ref={canvas} className="flame-canvas" />
        </div>
      </div>
      <p id="flame-hint" className="visually-hidden">
        Each box is a frame, or a part of a variable’s name. Its width is the memory that it and the
        boxes below it hold: its callees, or the parts that follow. Arrow keys go from box to box,
        Enter zooms into one, Escape zooms out. The chosen box is described after the graph; the
        table has the same figures as text.
      </p>
    </>
  );
}

const ZOOM_IN: ReadonlySet<string> = new Set(['Enter', '+', '=', 'w']);
const ZOOM_OUT: ReadonlySet<string> = new Set(['Escape', '-', '_', 's']);

function onFlameKey(event: KeyboardEvent, props: FlameCanvasProps): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { layout, selected, onSelect, onZoom } = props;
  const { key } = event;
  const { trail } = layout.graph;
  if (isArrowKey(key)) {
    onSelect(selected === undefined ? layout.root : layout.neighbor(selected, key));
  } else if (ZOOM_IN.has(key) && selected !== undefined) onZoom(layout.zoomPathOf(selected));
  else if (ZOOM_OUT.has(key) && trail.length > 0) onZoom(trail.at(-2)?.path);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function boxUnder(
  event: { readonly clientX: number; readonly clientY: number },
  scroller: HTMLElement | null,
  layout: FlameLayout,
): FlameBox | undefined {
  if (scroller === null) return undefined;
  const { left, top } = scroller.getBoundingClientRect();
  const level = Math.floor((event.clientY - top + scroller.scrollTop) / LEVEL_HEIGHT_PX);
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

function useReveal(scroller: RefObject<HTMLDivElement | null>, box: FlameBox | undefined): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null || box === undefined) return;
    const top = box.depth * LEVEL_HEIGHT_PX;
    if (top < element.scrollTop) element.scrollTop = top;
    const lowest = top + LEVEL_HEIGHT_PX - element.clientHeight;
    if (lowest > element.scrollTop) element.scrollTop = lowest;
  }, [scroller, box]);
}
