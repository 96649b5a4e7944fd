/** The whole card below the plot, on a canvas of its own: who holds how much of it, up to its capacity. */
import { scaleLinear } from 'd3';
import { formatBytes, formatPercent } from '../../../base/format.ts';
import {
  type CardHistory,
  rowKey,
  rowLabel,
  rowNote,
  sampleText,
} from '../../../device/model/card.ts';
import type { PlotAxis, Viewport } from '../../../draw/timeline/types.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { blankCanvas } from '../../plot/canvas.ts';
import type { PlotStrip, StripHost } from '../../plot/plot-controller.ts';
import { hideTooltip, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import { endOf } from '../../plot/viewport-of.ts';
import { cardColor, plotStyle, type ThemeName } from '../../theme/palette.ts';
import {
  type CardBand,
  type CardColumn,
  type CardLayout,
  cardColumns,
  cardLayout,
} from './card-layout.ts';

/** The surface's label while no sample has the focus. */
export const LABEL =
  'The whole card: left and right move between samples, up and down between its rows, Enter sets the cursor';

interface Focus {
  readonly sample: number;
  readonly band: number;
}

export class CardStrip implements PlotStrip {
  readonly #surface: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #host: StripHost;
  readonly #onPick: (event: EventIndex) => void;
  readonly #stop = new AbortController();
  #history: CardHistory | undefined;
  #layout: CardLayout | undefined;
  #axis: PlotAxis | undefined;
  #columns: readonly CardColumn[] = [];
  #toY = scaleLinear();
  #focus: Focus | undefined;

  /** @param surface gets the pointer and keys; the canvas fills it */
  constructor(
    surface: HTMLElement,
    canvas: HTMLCanvasElement,
    host: StripHost,
    onPick: (event: EventIndex) => void,
  ) {
    this.#surface = surface;
    this.#canvas = canvas;
    this.#host = host;
    this.#onPick = onPick;
    const { signal } = this.#stop;
    surface.addEventListener('pointermove', (event) => this.#hover(event), { signal });
    surface.addEventListener('pointerleave', hideTooltip, { signal });
    surface.addEventListener('keydown', (event) => this.#onKey(event), { signal });
    surface.addEventListener('blur', () => this.#setFocus(undefined), { signal });
    surface.addEventListener('click', (event) => this.#pick(this.#under(event)), { signal });
  }

  /** Call again after the canvas has changed its height. */
  setHistory(history: CardHistory | undefined): void {
    this.#history = history;
    this.#axis = undefined;
    this.#focus = undefined;
    this.#host.repaint();
  }

  paint(viewport: Viewport, theme: ThemeName, cursorX?: number): void {
    if (this.#history === undefined) return;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const context = blankCanvas(this.#canvas, width, height, viewport.width / width);
    if (context === undefined) return;
    const { device } = this.#host;
    if (this.#axis !== viewport.axis || this.#layout === undefined) {
      this.#axis = viewport.axis;
      this.#layout = cardLayout(this.#history, viewport.axis, device);
    }
    const { bands, lowestBytes, highestBytes, samples } = this.#layout;
    const toX = scaleLinear([viewport.x0, viewport.x1], [0, width]);
    this.#toY = scaleLinear([lowestBytes, highestBytes], [height, 0]);
    this.#columns = cardColumns(this.#layout, toX, width, endOf(device, viewport.axis));
    const style = plotStyle(theme);
    for (const band of bands) this.#paintBand(context, band, theme);
    context.fillStyle = style.dim;
    if (lowestBytes < 0) context.fillRect(0, this.#toY(0) - 0.5, width, 1);
    const totalBytes = samples.at(-1)?.totalBytes ?? 0;
    // What PyTorch counts twice reaches above the card's capacity.
    if (highestBytes > totalBytes) context.fillRect(0, this.#toY(totalBytes) - 0.5, width, 1);
    if (cursorX !== undefined) {
      context.fillStyle = style.accent;
      context.fillRect(toX(cursorX), 0, 1.5, height);
    }
    this.#paintFocus(context, style.accent);
  }

  destroy(): void {
    this.#stop.abort();
  }

  #paintBand(context: CanvasRenderingContext2D, { kind, edges }: CardBand, theme: ThemeName): void {
    const color = cardColor(theme, kind);
    if (color === undefined) return;
    const pattern = kind === 'behind-allocator' ? hatch(context, color) : null;
    context.fillStyle = pattern ?? color;
    for (const { left, right, sample } of this.#columns) {
      const [low = 0, high = 0] = edges[sample] ?? [];
      if (low === high) continue;
      const [bottom, top] = [this.#toY(low), this.#toY(high)];
      // A seam between bands of one color, such as groups, where there is room for it.
      const seam = bottom - top > 3 ? 0.5 : 0;
      context.fillRect(
        left,
        top + seam,
        Math.max(1, right - left),
        Math.max(0.75, bottom - top - seam),
      );
    }
  }

  #paintFocus(context: CanvasRenderingContext2D, color: string): void {
    const [column, edges] = [this.#columnOf(this.#focus), this.#edgesOf(this.#focus)];
    if (this.#focus === undefined || column === undefined || edges === undefined) return;
    const [bottom, top] = edges.map((bytes) => this.#toY(bytes)) as [number, number];
    const left = Math.max(1, column.left);
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.strokeRect(
      left,
      top + 1,
      Math.max(3, column.right - left - 1),
      Math.max(2, bottom - top - 2),
    );
    const place = this.#canvas.getBoundingClientRect();
    const content = this.#contentOf(this.#focus);
    if (content !== undefined)
      showTooltip(content, place.left + left, place.top + top, this.#canvas);
  }

  #columnOf(focus: Focus | undefined): CardColumn | undefined {
    return focus && this.#columns.findLast(({ sample }) => sample <= focus.sample);
  }

  #edgesOf(focus: Focus | undefined): readonly number[] | undefined {
    return focus && this.#layout?.bands[focus.band]?.edges[focus.sample];
  }

  #contentOf({ sample, band }: Focus): TooltipContent | undefined {
    const taken = this.#layout?.samples[sample];
    const key = this.#layout?.bands[band]?.key;
    const row = taken?.rows.find((one) => rowKey(one) === key);
    if (taken === undefined || row === undefined) return undefined;
    const share = formatPercent(Math.abs(row.bytes) / taken.totalBytes);
    const note = rowNote(row);
    return {
      title: `${formatBytes(row.bytes)} ${rowLabel(row)}`,
      lines: [
        `${share} of the card's ${formatBytes(taken.totalBytes)}`,
        `sampled ${sampleText(taken)}`,
        ...(note === '' ? [] : [note]),
      ],
    };
  }

  /** Arrows go from sample to sample and from row to row, Enter sets the cursor, Escape leaves. */
  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' && this.#focus !== undefined) this.#pick(this.#focus);
    else if (event.key === 'Escape' && this.#focus !== undefined) this.#setFocus(undefined);
    else {
      const next = this.#nextFocus(event.key);
      if (next === undefined) return;
      this.#setFocus(next);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #nextFocus(key: string): Focus | undefined {
    const { samples = [], bands = [] } = this.#layout ?? {};
    const last = samples.length - 1;
    const { sample, band } = this.#focus ?? { sample: this.#columns[0]?.sample ?? 0, band: 0 };
    const shown = (at: Focus) => {
      const [low = 0, high = 0] = this.#edgesOf(at) ?? [];
      return low !== high;
    };
    const rows = bands.map((_, i) => ({ sample, band: i })).filter(shown);
    const [above] = rows.filter((at) => at.band > band);
    const below = rows.findLast((at) => at.band < band);
    const moves: Readonly<Record<string, Focus | undefined>> = {
      ArrowLeft: { sample: Math.max(0, sample - 1), band },
      ArrowRight: { sample: Math.min(last, sample + 1), band },
      Home: { sample: 0, band },
      End: { sample: last, band },
      ArrowUp: above ?? { sample, band },
      ArrowDown: below ?? { sample, band },
    };
    const isArrow = key.startsWith('Arrow');
    return isArrow && key in moves && this.#focus === undefined ? { sample, band } : moves[key];
  }

  #setFocus(focus: Focus | undefined): void {
    this.#focus = focus;
    const content = focus && this.#contentOf(focus);
    // The surface has the focus, so screen readers announce the change.
    this.#surface.ariaLabel =
      content === undefined ? LABEL : [content.title, ...content.lines].join(', ');
    if (focus === undefined) hideTooltip();
    else this.#host.navigation.bringIntoView(this.#layout?.xs[focus.sample] ?? 0);
    this.#host.repaint();
  }

  #pick(focus: Focus | undefined): void {
    const event = focus && this.#layout?.samples[focus.sample]?.event;
    if (event !== undefined && event >= 0) this.#onPick(event);
  }

  #hover(event: PointerEvent): void {
    const content = this.#contentUnder(event);
    if (content === undefined) hideTooltip();
    else showTooltip(content, event.clientX, event.clientY, this.#canvas);
  }

  #contentUnder(event: MouseEvent): TooltipContent | undefined {
    const focus = this.#under(event);
    return focus && this.#contentOf(focus);
  }

  #under({ offsetX, offsetY }: MouseEvent): Focus | undefined {
    const column = this.#columns.find(({ left, right }) => offsetX >= left && offsetX < right);
    if (column === undefined) return undefined;
    const bytes = this.#toY.invert(offsetY);
    const band = (this.#layout?.bands ?? []).findIndex(({ edges }) => {
      const [low = 0, high = 0] = edges[column.sample] ?? [];
      return bytes >= low && bytes < high;
    });
    return band < 0 ? undefined : { sample: column.sample, band };
  }
}

const HATCH = 6;

/** Diagonal strokes: bytes that are counted but no longer there. */
function hatch(context: CanvasRenderingContext2D, color: string): CanvasPattern | null {
  const tile = document.createElement('canvas');
  tile.width = tile.height = HATCH;
  const pen = tile.getContext('2d');
  if (pen === null) return null;
  pen.strokeStyle = color;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(-1, HATCH + 1);
  pen.lineTo(HATCH + 1, -1);
  pen.stroke();
  return context.createPattern(tile, 'repeat');
}
