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
import { boxTooltip } from './flame-labels.ts';
import { type BoxIndex, type FlameLayout, isArrowKey } from './flame-layout.ts';
import { type FlameScene, LEVEL_HEIGHT_PX, paintFlame } from './paint-flame.ts';

interface FlameCanvasProps {
  readonly layout: FlameLayout;
  readonly scene: Pick<FlameScene, 'colors' | 'figures' | 'chosenKey' | 'selected'>;
  readonly isBusy: boolean;
  readonly onSelect: (box: BoxIndex) => void;
  readonly onZoom: (box: BoxIndex) => void;
  /** Zooms out by one level. */
  readonly onBack: () => void;
}

/** The boxes as an icicle, the outermost on top. Hovering renders nothing in React. */
export function FlameCanvas(props: FlameCanvasProps) {
  const { layout, scene, isBusy, onSelect, onZoom } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const hovered = useRef<BoxIndex | undefined>(undefined);
  const content = useRef<TooltipContent | undefined>(undefined);
  const paint = useCallback(() => {
    if (scroller.current === null || canvas.current === null) return;
    paintOn(canvas.current, scroller.current, { ...scene, layout, hovered: hovered.current });
  }, [layout, scene]);
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
  useReveal(scroller, layout, scene.selected);

  const hover = (event: PointerEvent, box: BoxIndex | undefined) => {
    if (box !== hovered.current) {
      hovered.current = box;
      content.current = box === undefined ? undefined : boxTooltip(layout, box, scene.figures);
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
          if (box > 0) onZoom(box);
        }}
      >
        <div style={{ height: layout.levels.length * LEVEL_HEIGHT_PX }}>
          <canvas ref={canvas} className="flame-canvas" />
        </div>
      </div>
      <p id="flame-hint" className="visually-hidden">
        Each box is a frame. Its width is the memory that it and its callees hold; its callees are
        below it. Arrow keys go from box to box, Enter zooms into one, Escape zooms out. What is
        chosen is described behind the graph; the table has the same figures as text.
      </p>
    </>
  );
}

const ZOOM_IN: ReadonlySet<string> = new Set(['Enter', '+', '=', 'w']);
const ZOOM_OUT: ReadonlySet<string> = new Set(['Escape', '-', '_', 's']);

function onFlameKey(event: KeyboardEvent, props: FlameCanvasProps): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { layout, scene, onSelect, onZoom, onBack } = props;
  const { key } = event;
  if (isArrowKey(key)) {
    onSelect(scene.selected === undefined ? 0 : layout.neighbour(scene.selected, key));
  } else if (ZOOM_IN.has(key) && scene.selected !== undefined) onZoom(scene.selected);
  else if (ZOOM_OUT.has(key) && layout.graph.trail.length > 0) onBack();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function boxUnder(
  event: { readonly clientX: number; readonly clientY: number },
  scroller: HTMLElement | null,
  layout: FlameLayout,
): BoxIndex | undefined {
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

/** Scrolls to the box that has the keyboard focus. */
function useReveal(
  scroller: RefObject<HTMLDivElement | null>,
  layout: FlameLayout,
  box: BoxIndex | undefined,
): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null || box === undefined) return;
    const top = (layout.level[box] ?? 0) * LEVEL_HEIGHT_PX;
    if (top < element.scrollTop) element.scrollTop = top;
    const lowest = top + LEVEL_HEIGHT_PX - element.clientHeight;
    if (lowest > element.scrollTop) element.scrollTop = lowest;
  }, [scroller, layout, box]);
}
