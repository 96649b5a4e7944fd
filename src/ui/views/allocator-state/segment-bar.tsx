import { type PointerEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { formatBytes, formatExactBytes } from '../../../base/format.ts';
import type { PinSite } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentBars, SegmentHit } from '../../../device/allocator-state/segment-bars.ts';
import type { SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useStores } from '../../../state/stores.ts';
import { hideTooltip, hitContent, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import { useAsk, useQuery } from '../../shared/use-query.ts';

export interface BarColors {
  readonly classes: readonly string[];
  readonly pending: string;
  /** Color of blocks that don't match, if only matches are shown; undefined: they are drawn paler. */
  readonly unmatched: string | undefined;
  readonly edge: string;
  readonly selection: string;
}

interface SegmentBarProps {
  readonly bars: SegmentBars;
  /** The segment's position among the bars, and in the list's order. */
  readonly index: number;
  readonly position: number;
  readonly colors: BarColors;
  /** The pinned allocation, -1 for none. */
  readonly selected: number;
  readonly pointer: Pick<BarPointer, 'hover' | 'pick'>;
}

/** Device pixels of a bar's height at a ratio of 1. */
const BAR_HEIGHT_PX = 18;

export function SegmentBar({ bars, index, position, colors, selected, pointer }: SegmentBarProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const heightPx = Math.round(BAR_HEIGHT_PX * window.devicePixelRatio);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a canvas of another height is blank
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context) paintBar(context, bars, index, colors, selected);
  }, [bars, index, colors, selected, heightPx]);
  return (
    // The view handles the keys: Shift and the arrows go from block to block.
    <canvas
      ref={canvas}
      className="segment-bar"
      aria-hidden
      width={bars.width}
      height={heightPx}
      onPointerMove={(event) => pointer.hover(placeOf(event, position, bars.width))}
      onPointerLeave={() => pointer.hover(undefined)}
      onClick={(event) => pointer.pick(placeOf(event, position, bars.width))}
    />
  );
}

type BarEvent = Pick<PointerEvent<HTMLCanvasElement>, 'currentTarget' | 'clientX' | 'clientY'>;
type BarPlace = ReturnType<typeof placeOf>;

/** The pixel of a bar under the pointer, as fractions of the segment's size. */
function placeOf({ currentTarget, clientX, clientY }: BarEvent, position: number, pixels: number) {
  const { left, width } = currentTarget.getBoundingClientRect();
  const pixel = Math.floor(((clientX - left) / width) * pixels);
  const shown = Math.max(0, Math.min(pixels - 1, pixel));
  return { part: { position, from: shown / pixels, to: (shown + 1) / pixels }, clientX, clientY };
}

export type BarPointer = ReturnType<typeof useBarPointer>;

/** Shows a tooltip for what is under the pointer, and selects it on a click. */
export function useBarPointer(event: number, order: SegmentOrder) {
  const ask = useAsk();
  const { view } = useStores();
  const [place, hover] = useState<BarPlace>();
  // If the worker is gone, the list reports it.
  const { value: hit } = useQuery('stateHit', place && { event, order, ...place.part });
  const content = useMemo(() => hit && contentOf(hit), [hit]);
  useEffect(() => {
    if (place === undefined || content === undefined) hideTooltip();
    else showTooltip(content, place.clientX, place.clientY);
  }, [place, content]);
  useEffect(() => hideTooltip, []);
  return useMemo(() => {
    const select = (label: Promise<string | undefined>) => {
      label.then(
        (selection) => selection !== undefined && view.click('allocation', { selection }),
        () => undefined,
      );
    };
    return {
      hover,
      pick({ part }: BarPlace) {
        const found = ask('stateHit', { event, order, ...part });
        select(found.then((at) => (at?.kind === 'blocks' ? at.hit.label : undefined)));
      },
      pickSite({ allocation }: PinSite) {
        select(ask('allocation', { index: allocation }).then(({ label }) => label));
      },
    };
  }, [ask, view, event, order]);
}

function contentOf(hit: SegmentHit): TooltipContent {
  if (hit.kind === 'blocks') return hitContent(hit.hit);
  return {
    title: `${formatBytes(hit.sizeBytes)} free`,
    label: hit.addressHex,
    lines: [formatExactBytes(hit.sizeBytes)],
  };
}

/** Opacity of a block that fills only a little of a pixel: paler, but visible. */
const FAINTEST = 0.35;
const DIMMED = 0.2;
/** Narrower blocks get no edge: it would cover them. */
const MIN_EDGED = 4;
const HATCH = 5;

/**
 * Draws blocks to scale in their colors, pending ones hatched, free ranges empty.
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
  const { allocation, used, isPending, isMatch, classOf } = bars;
  const { width, height } = context.canvas;
  context.clearRect(0, 0, width, height);
  const [first, end] = [index * bars.width, (index + 1) * bars.width];
  for (let from = first, to = first; from < end; from = to) {
    do to++;
    while (to < end && allocation[to] === allocation[from] && used[to] === used[from]);
    if ((allocation[from] ?? -1) < 0) continue;
    const [x, length] = [from - first, to - from];
    const own = isPending[from] === 1 ? undefined : colors.classes[classOf[from] ?? 0];
    const color = own ?? colors.pending;
    const isShown = isMatch[from] === 1;
    const share = FAINTEST + (1 - FAINTEST) * ((used[from] ?? 0) / 255);
    context.globalAlpha = isShown ? share : share * DIMMED;
    context.fillStyle = isShown ? color : (colors.unmatched ?? color);
    if (isPending[from] === 1) hatch(context, x, length);
    else context.fillRect(x, 0, length, height);
    if (length >= MIN_EDGED) {
      context.fillStyle = colors.edge;
      context.fillRect(x + length - 1, 0, 1, height);
    }
    context.globalAlpha = 1;
  }
  const pixels = allocation.subarray(first, end);
  const left = selected < 0 ? -1 : pixels.indexOf(selected);
  if (left < 0) return;
  context.strokeStyle = colors.selection;
  context.lineWidth = 2;
  const right = pixels.lastIndexOf(selected) + 1;
  context.strokeRect(left + 1, 1, Math.max(1, right - left - 2), height - 2);
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
