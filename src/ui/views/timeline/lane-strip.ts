/** The annotation lanes above the plot, on a canvas of their own. */

import { formatCount, formatDurationUs } from '../../../base/format.ts';
import type { AnnotationTracks } from '../../../device/model/annotations.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import type { PlotAxis, Viewport } from '../../../draw/timeline/types.ts';
import type { PlotStrip, StripHost } from '../../plot/plot-controller.ts';
import type { TooltipContent } from '../../plot/tooltip.ts';
import type { ThemeName } from '../../theme/palette.ts';
import { type PlotStyle, plotStyle } from '../../theme/plot-style.ts';
import { firstFocus, focusedSpan, type LaneFocus, nextFocus } from './lane-focus.ts';
import { boxAt, type Lane, type LaneBox, laneBoxes, lanesOf } from './lane-layout.ts';

export const LANE_HEIGHT = 18;
/** Of the surface while no range has the focus. */
export const LABEL = 'Annotations: arrow keys move between them, Enter zooms to one';
const FONT = '11px system-ui, sans-serif';
const PADDING = 5;
/** Narrower boxes have no text. */
const MIN_TEXT_WIDTH = 24;

export class LaneStrip implements PlotStrip<unknown> {
  readonly #surface: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #host: StripHost;
  readonly #stop = new AbortController();
  #annotations: AnnotationTracks | undefined;
  #lanes: readonly Lane[] = [];
  #axis: PlotAxis | undefined;
  #boxes: readonly (readonly LaneBox[])[] = [];
  /** Level on top; others are reached by wheel and keys where there are more than fit. */
  #firstLane = 0;
  #focus: LaneFocus | undefined;
  #viewport: Viewport | undefined;

  /** @param surface what takes pointer and keys; the canvas fills it */
  constructor(surface: HTMLElement, canvas: HTMLCanvasElement, host: StripHost) {
    this.#surface = surface;
    this.#canvas = canvas;
    this.#host = host;
    const { signal } = this.#stop;
    const { tooltip, navigation } = host;
    surface.addEventListener('pointermove', (event) => this.#hover(event), { signal });
    surface.addEventListener('pointerleave', () => tooltip.hide(), { signal });
    surface.addEventListener('keydown', (event) => this.#onKey(event), { signal });
    surface.addEventListener('blur', () => this.#setFocus(undefined), { signal });
    surface.addEventListener('wheel', (event) => this.#scroll(event), { passive: false, signal });
    surface.addEventListener(
      'click',
      (event) => {
        const span = this.#boxUnder(event)?.span;
        if (span !== undefined) navigation.zoomToSpan(span);
      },
      { signal },
    );
  }

  /** Also after the canvas has got another height. */
  setAnnotations(annotations: AnnotationTracks): void {
    this.#annotations = annotations;
    this.#axis = undefined;
    this.#focus = undefined;
    this.#host.repaint();
  }

  paint(viewport: Viewport, theme: ThemeName): void {
    const canvas = this.#canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    const context = canvas.getContext('2d');
    if (context === null || width === 0 || height === 0) return;
    if (this.#axis !== viewport.axis) {
      this.#axis = viewport.axis;
      this.#lanes = this.#annotations
        ? lanesOf(this.#annotations, viewport.axis, this.#host.folds)
        : [];
    }
    this.#viewport = viewport;
    const ratio = viewport.width / width;
    resize(canvas, viewport.width, Math.round(height * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = 'middle';
    const shown = Math.floor(height / LANE_HEIGHT);
    this.#firstLane = Math.max(0, Math.min(this.#firstLane, this.#lanes.length - shown));
    const visible = this.#lanes.slice(this.#firstLane, this.#firstLane + shown);
    this.#boxes = visible.map((lane) => laneBoxes(lane, viewport.x0, viewport.x1, width));
    for (const [row, boxes] of this.#boxes.entries()) {
      for (const box of boxes) paintBox(context, box, row * LANE_HEIGHT, plotStyle(theme));
    }
    this.#paintFocus(context, viewport, width, plotStyle(theme));
  }

  destroy(): void {
    this.#stop.abort();
  }

  /** Arrows go from range to range, Enter zooms to it, Escape leaves it. */
  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const span = focusedSpan(this.#lanes, this.#focus);
    if (event.key === 'Enter' && span !== undefined) this.#host.navigation.zoomToSpan(span);
    else if (event.key === 'Escape' && span !== undefined) this.#setFocus(undefined);
    else {
      const start = this.#focus ?? firstFocus(this.#lanes, this.#viewport?.x0 ?? 0);
      const next = start && nextFocus(this.#lanes, start, event.key);
      if (next === undefined) return;
      this.#setFocus(this.#focus === undefined ? start : next);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #setFocus(focus: LaneFocus | undefined): void {
    this.#focus = focus;
    const span = focusedSpan(this.#lanes, focus);
    // Read out as it changes: the surface has the focus.
    this.#surface.ariaLabel = span === undefined ? LABEL : spanText(span);
    if (focus === undefined || span === undefined) this.#host.tooltip.hide();
    else {
      const shown = Math.max(1, Math.floor(this.#canvas.clientHeight / LANE_HEIGHT));
      const first = Math.min(this.#firstLane, focus.lane);
      this.#firstLane = Math.max(first, focus.lane - shown + 1);
      this.#host.navigation.bringIntoView(this.#lanes[focus.lane]?.starts[focus.at] ?? 0);
    }
    this.#host.repaint();
  }

  /** An outline around the range that has the focus, and what the tooltip says of it. */
  #paintFocus(
    context: CanvasRenderingContext2D,
    { x0, x1 }: Viewport,
    width: number,
    style: PlotStyle,
  ): void {
    const focus = this.#focus;
    const span = focusedSpan(this.#lanes, focus);
    if (focus === undefined || span === undefined) return;
    const { starts, ends } = this.#lanes[focus.lane] ?? { starts: [], ends: [] };
    const toX = (x: number) => ((x - x0) / (x1 - x0)) * width;
    const left = Math.max(1, toX(starts[focus.at] ?? 0));
    const right = Math.min(width - 1, Math.max(left + 3, toX(ends[focus.at] ?? 0)));
    const top = (focus.lane - this.#firstLane) * LANE_HEIGHT;
    context.strokeStyle = style.accent;
    context.lineWidth = 2;
    context.strokeRect(left, top + 2, right - left, LANE_HEIGHT - 4);
    const { left: fromLeft, top: fromTop } = this.#canvas.getBoundingClientRect();
    const content = laneContent({ left, right, span, count: 1 });
    this.#host.tooltip.show(content, fromLeft + left, fromTop + top + LANE_HEIGHT);
  }

  #scroll(event: WheelEvent): void {
    event.preventDefault();
    this.#firstLane = Math.max(0, this.#firstLane + Math.sign(event.deltaY));
    this.#host.tooltip.hide();
    this.#host.repaint();
  }

  #hover(event: PointerEvent): void {
    const { tooltip } = this.#host;
    const box = this.#boxUnder(event);
    this.#surface.style.cursor = box?.span === undefined ? 'default' : 'zoom-in';
    if (box === undefined) tooltip.hide();
    else tooltip.show(laneContent(box), event.clientX, event.clientY);
  }

  #boxUnder(event: MouseEvent): LaneBox | undefined {
    const boxes = this.#boxes[Math.floor(event.offsetY / LANE_HEIGHT)];
    return boxes && boxAt(boxes, event.offsetX);
  }
}

/** Setting a size, also the same one, makes a new buffer. */
function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function paintBox(
  context: CanvasRenderingContext2D,
  { left, right, span, count }: LaneBox,
  top: number,
  style: PlotStyle,
): void {
  const width = right - left;
  context.fillStyle = count > 1 ? style.laneAlternate : style.lane;
  context.fillRect(left, top + 1, Math.max(1, width - 1), LANE_HEIGHT - 2);
  if (span === undefined || width < MIN_TEXT_WIDTH) return;
  context.fillStyle = style.laneText;
  const text = clipText(context, span.name, width - 2 * PADDING);
  context.fillText(text, left + PADDING, top + LANE_HEIGHT / 2 + 0.5);
}

/** As much of the text as fits, the end replaced by '…'. */
function clipText(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) fits = middle;
    else tooLong = middle;
  }
  return fits === 0 ? '' : `${text.slice(0, fits)}…`;
}

/** What the tooltip says of a range. */
function laneContent({ span, count }: LaneBox): TooltipContent {
  if (span === undefined) {
    return {
      title: `${formatCount(count)} annotations`,
      label: '',
      lines: ['too short to show one by one: zoom in'],
    };
  }
  return { title: span.name, label: '', lines: spanLines(span) };
}

/** The same in one sentence, to be read out. */
const spanText = (span: AnnotationSpan): string => [span.name, ...spanLines(span)].join(', ');

function spanLines({ startUs, endUs, startEvent, endEvent, complete }: AnnotationSpan): string[] {
  const count = endEvent - startEvent;
  const lines = [
    formatDurationUs(endUs - startUs),
    count === 0
      ? 'no events inside'
      : `events ${formatCount(startEvent)} to ${formatCount(endEvent - 1)}`,
  ];
  if (!complete) lines.push('its START or END is not in the file');
  return lines;
}
