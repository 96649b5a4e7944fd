/** Draws a segment's bar: blocks to scale in their colors, pending ones hatched, free ranges empty. */
import type { SegmentBars } from '../../../device/allocator-state/segment-bars.ts';

export interface BarColors {
  readonly classes: readonly string[];
  readonly pending: string;
  /** Color of blocks that don't match, if only matches are shown; undefined: they are drawn paler. */
  readonly unmatched: string | undefined;
  readonly edge: string;
  readonly selection: string;
}

interface Pixel {
  readonly allocation: number;
  readonly used: number;
  readonly isPending: boolean;
  readonly isMatch: boolean;
  readonly classOf: number;
}

/** Opacity of a block that fills only a little of a pixel: paler, but visible. */
const FAINTEST = 0.35;
const DIMMED = 0.2;
/** Narrower blocks get no edge: it would cover them. */
const MIN_EDGED = 4;
const HATCH = 5;

/**
 * @param context of a canvas as wide as the bars, in device pixels
 * @param index of the segment among the bars
 */
export function paintBar(
  context: CanvasRenderingContext2D,
  bars: SegmentBars,
  index: number,
  colors: BarColors,
  selected: number,
): void {
  const { width, height } = context.canvas;
  context.clearRect(0, 0, width, height);
  for (let from = 0; from < bars.width; ) {
    const pixel = pixelAt(bars, index, from);
    let to = from + 1;
    while (to < bars.width && looksSame(pixel, pixelAt(bars, index, to))) to++;
    if (pixel.allocation >= 0) paintRun(context, from, to - from, pixel, colors);
    from = to;
  }
  paintSelection(context, bars, index, colors, selected);
}

function pixelAt(bars: SegmentBars, index: number, x: number): Pixel {
  const at = index * bars.width + x;
  return {
    allocation: bars.allocation[at] ?? -1,
    used: bars.used[at] ?? 0,
    isPending: bars.isPending[at] === 1,
    isMatch: bars.isMatch[at] === 1,
    classOf: bars.classOf[at] ?? 0,
  };
}

function looksSame(a: Pixel, b: Pixel): boolean {
  return a.allocation === b.allocation && a.used === b.used;
}

function paintRun(
  context: CanvasRenderingContext2D,
  x: number,
  width: number,
  { used, isPending, isMatch, classOf }: Pixel,
  colors: BarColors,
): void {
  const { height } = context.canvas;
  const own = isPending ? colors.pending : (colors.classes[classOf] ?? colors.pending);
  const share = FAINTEST + (1 - FAINTEST) * (used / 255);
  context.globalAlpha = isMatch ? share : share * DIMMED;
  context.fillStyle = isMatch ? own : (colors.unmatched ?? own);
  if (isPending) hatch(context, x, width);
  else context.fillRect(x, 0, width, height);
  if (width >= MIN_EDGED) {
    context.fillStyle = colors.edge;
    context.fillRect(x + width - 1, 0, 1, height);
  }
  context.globalAlpha = 1;
}

/** Stripes on a pale ground: pending frees must differ from free memory and from blocks in use. */
function hatch(context: CanvasRenderingContext2D, x: number, width: number): void {
  const { height } = context.canvas;
  const alpha = context.globalAlpha;
  context.save();
  context.beginPath();
  context.rect(x, 0, width, height);
  context.clip();
  context.globalAlpha = alpha * 0.3;
  context.fillRect(x, 0, width, height);
  context.globalAlpha = alpha;
  context.beginPath();
  // Start at a multiple of the spacing, so stripes of neighbors meet.
  const first = Math.floor((x - height) / HATCH) * HATCH;
  for (let at = first; at < x + width; at += HATCH) {
    context.moveTo(at, height);
    context.lineTo(at + height, 0);
  }
  context.strokeStyle = context.fillStyle;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}

function paintSelection(
  context: CanvasRenderingContext2D,
  bars: SegmentBars,
  index: number,
  { selection }: BarColors,
  selected: number,
): void {
  if (selected < 0) return;
  const own = bars.allocation.subarray(index * bars.width, (index + 1) * bars.width);
  const from = own.indexOf(selected);
  if (from < 0) return;
  const to = own.lastIndexOf(selected) + 1;
  context.strokeStyle = selection;
  context.lineWidth = 2;
  context.strokeRect(from + 1, 1, Math.max(1, to - from - 2), context.canvas.height - 2);
}
