/** The annotation tracks above the plot, on a canvas of their own. */
import { formatCount, formatDurationUs } from '../../../base/format.ts';
import type { AnnotationTracks } from '../../../device/model/annotations.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import type { PlotAxis, Viewport } from '../../../draw/timeline/types.ts';
import { blankCanvas, elided } from '../../plot/canvas.ts';
import type { PlotStrip, StripHost } from '../../plot/plot-controller.ts';
import { hideTooltip, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import { type PlotStyle, plotStyle, type ThemeName } from '../../theme/palette.ts';
import {
  boxAt,
  firstFocus,
  focusedSpan,
  nextFocus,
  type Track,
  type TrackBox,
  type TrackFocus,
  trackBoxes,
  tracksOf,
} from './track-layout.ts';

export const TRACK_HEIGHT = 18;
/** The surface's label while no range has the focus. */
export const LABEL = 'Annotations: arrow keys move between them, Enter zooms to one';
const PADDING = 5;
const MIN_TEXT_WIDTH = 24;

export class TrackStrip implements PlotStrip {
  readonly #surface: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #host: StripHost;
  readonly #stop = new AbortController();
  #annotations: AnnotationTracks | undefined;
  #tracks: readonly Track[] = [];
  #axis: PlotAxis | undefined;
  #boxes: readonly (readonly TrackBox[])[] = [];
  /** The topmost level shown. Wheel and keys reach levels that do not fit. */
  #firstTrack = 0;
  #focus: TrackFocus | undefined;
  #viewport: Viewport | undefined;

  /** @param surface gets the pointer and keys; the canvas fills it */
  constructor(surface: HTMLElement, canvas: HTMLCanvasElement, host: StripHost) {
    this.#surface = surface;
    this.#canvas = canvas;
    this.#host = host;
    const { signal } = this.#stop;
    surface.addEventListener('pointermove', (event) => this.#hover(event), { signal });
    surface.addEventListener('pointerleave', hideTooltip, { signal });
    surface.addEventListener('keydown', (event) => this.#onKey(event), { signal });
    surface.addEventListener('blur', () => this.#setFocus(undefined), { signal });
    surface.addEventListener('wheel', (event) => this.#scroll(event), { passive: false, signal });
    surface.addEventListener('click', (event) => this.#zoomTo(this.#boxUnder(event)?.span), {
      signal,
    });
  }

  /** Call again after the canvas has changed its height. */
  setAnnotations(annotations: AnnotationTracks): void {
    this.#annotations = annotations;
    this.#axis = undefined;
    this.#focus = undefined;
    this.#host.repaint();
  }

  paint(viewport: Viewport, theme: ThemeName): void {
    if (this.#axis !== viewport.axis) {
      this.#axis = viewport.axis;
      this.#tracks = this.#annotations
        ? tracksOf(this.#annotations, viewport.axis, this.#host.device.folds)
        : [];
    }
    this.#viewport = viewport;
    this.#boxes = [];
    // Most files have no annotations: then the canvas has no height, and asking for it would force a layout.
    if (this.#tracks.length === 0) return;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const context = blankCanvas(this.#canvas, width, height, viewport.width / width);
    if (context === undefined) return;
    const shown = this.#shownTracks;
    this.#firstTrack = Math.max(0, Math.min(this.#firstTrack, this.#tracks.length - shown));
    this.#boxes = this.#tracks
      .slice(this.#firstTrack, this.#firstTrack + shown)
      .map((track) => trackBoxes(track, viewport.x0, viewport.x1, width));
    const style = plotStyle(theme);
    for (const [row, boxes] of this.#boxes.entries()) {
      for (const box of boxes) paintBox(context, box, row * TRACK_HEIGHT, style);
    }
    this.#paintFocus(context, viewport, width, style);
  }

  destroy(): void {
    this.#stop.abort();
  }

  get #shownTracks(): number {
    return Math.max(1, Math.floor(this.#canvas.clientHeight / TRACK_HEIGHT));
  }

  #zoomTo(span: AnnotationSpan | undefined): void {
    if (span !== undefined) this.#host.navigation.zoomToSpan(span);
  }

  /** Arrows go from range to range, Enter zooms to it, Escape leaves it. */
  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const span = focusedSpan(this.#tracks, this.#focus);
    if (event.key === 'Enter' && span !== undefined) this.#zoomTo(span);
    else if (event.key === 'Escape' && span !== undefined) this.#setFocus(undefined);
    else {
      const start = this.#focus ?? firstFocus(this.#tracks, this.#viewport?.x0 ?? 0);
      const next = start && nextFocus(this.#tracks, start, event.key);
      if (next === undefined) return;
      this.#setFocus(this.#focus === undefined ? start : next);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #setFocus(focus: TrackFocus | undefined): void {
    this.#focus = focus;
    const span = focusedSpan(this.#tracks, focus);
    // The surface has the focus, so screen readers announce the change.
    this.#surface.ariaLabel =
      span === undefined ? LABEL : [span.name, ...spanLines(span)].join(', ');
    if (focus === undefined || span === undefined) hideTooltip();
    else {
      const first = Math.min(this.#firstTrack, focus.track);
      this.#firstTrack = Math.max(first, focus.track - this.#shownTracks + 1);
      this.#host.navigation.bringIntoView(this.#tracks[focus.track]?.starts[focus.at] ?? 0);
    }
    this.#host.repaint();
  }

  #paintFocus(
    context: CanvasRenderingContext2D,
    { x0, x1 }: Viewport,
    width: number,
    style: PlotStyle,
  ): void {
    const focus = this.#focus;
    const span = focusedSpan(this.#tracks, focus);
    if (focus === undefined || span === undefined) return;
    const { starts, ends } = this.#tracks[focus.track] ?? { starts: [], ends: [] };
    const toX = (x: number) => ((x - x0) / (x1 - x0)) * width;
    const left = Math.max(1, toX(starts[focus.at] ?? 0));
    const right = Math.min(width - 1, Math.max(left + 3, toX(ends[focus.at] ?? 0)));
    const top = (focus.track - this.#firstTrack) * TRACK_HEIGHT;
    context.strokeStyle = style.accent;
    context.lineWidth = 2;
    context.strokeRect(left, top + 2, right - left, TRACK_HEIGHT - 4);
    const place = this.#canvas.getBoundingClientRect();
    const content = boxContent({ span, count: 1 });
    showTooltip(content, place.left + left, place.top + top + TRACK_HEIGHT, this.#canvas);
  }

  #scroll(event: WheelEvent): void {
    event.preventDefault();
    this.#firstTrack = Math.max(0, this.#firstTrack + Math.sign(event.deltaY));
    hideTooltip();
    this.#host.repaint();
  }

  #hover(event: PointerEvent): void {
    const box = this.#boxUnder(event);
    this.#surface.style.cursor = box?.span === undefined ? 'default' : 'zoom-in';
    if (box === undefined) hideTooltip();
    else showTooltip(boxContent(box), event.clientX, event.clientY, this.#canvas);
  }

  #boxUnder(event: MouseEvent): TrackBox | undefined {
    const boxes = this.#boxes[Math.floor(event.offsetY / TRACK_HEIGHT)];
    return boxes && boxAt(boxes, event.offsetX);
  }
}

function paintBox(
  context: CanvasRenderingContext2D,
  { left, right, span, count }: TrackBox,
  top: number,
  style: PlotStyle,
): void {
  const width = right - left;
  context.fillStyle = count > 1 ? style.trackAlternate : style.track;
  context.fillRect(left, top + 1, Math.max(1, width - 1), TRACK_HEIGHT - 2);
  if (span === undefined || width < MIN_TEXT_WIDTH) return;
  context.fillStyle = style.trackText;
  const text = elided(context, span.name, width - 2 * PADDING);
  context.fillText(text, left + PADDING, top + TRACK_HEIGHT / 2 + 0.5);
}

function boxContent({ span, count }: Pick<TrackBox, 'span' | 'count'>): TooltipContent {
  if (span !== undefined) return { title: span.name, lines: spanLines(span) };
  const lines = ['too short to show one by one: zoom in'];
  return { title: `${formatCount(count)} annotations`, lines };
}

function spanLines({ startUs, endUs, startEvent, endEvent, complete }: AnnotationSpan): string[] {
  const range = `events ${formatCount(startEvent)} to ${formatCount(endEvent - 1)}`;
  const lines = [
    formatDurationUs(endUs - startUs),
    endEvent === startEvent ? 'no events inside' : range,
  ];
  if (!complete) lines.push('its START or END is not in the file');
  return lines;
}
