import { type PointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { isAbortError } from '../../../base/errors.ts';
import { formatBytes, formatExactBytes } from '../../../base/format.ts';
import { LatestOnly } from '../../../base/latest-only.ts';
import type { PinSite } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentBars, SegmentHit } from '../../../device/allocator-state/segment-bars.ts';
import type { SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useStores } from '../../../state/stores.ts';
import { hideTooltip, hitContent, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import { useAsk } from '../../shared/use-query.ts';
import { type BarColors, paintBar } from './paint-bar.ts';

export interface BarLook {
  readonly colors: BarColors;
  readonly heightPx: number;
  /** The pinned allocation, -1 for none. */
  readonly selected: number;
}

interface SegmentBarProps extends BarLook {
  readonly bars: SegmentBars;
  /** The segment's position among the bars, and in the list's order. */
  readonly index: number;
  readonly position: number;
  readonly pointer: BarPointer;
}

export function SegmentBar(props: SegmentBarProps) {
  const { bars, index, position, colors, heightPx, selected, pointer } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a canvas of another height is blank
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context) paintBar(context, bars, index, colors, selected);
  }, [bars, index, colors, selected, heightPx]);
  return (
    // The list handles the keys: Shift and the arrows go from block to block.
    <canvas
      ref={canvas}
      className="segment-bar"
      aria-hidden
      width={bars.width}
      height={heightPx}
      onPointerMove={(event) => pointer.hover(position, placeOf(event, bars.width))}
      onPointerLeave={pointer.leave}
      onClick={(event) => pointer.pick(position, placeOf(event, bars.width))}
    />
  );
}

/** A range of a segment, as fractions of its size, and the pointer's position in the window. */
interface BarPlace extends Pick<PointerEvent, 'clientX' | 'clientY'> {
  readonly from: number;
  readonly to: number;
}

type BarEvent = Pick<PointerEvent<HTMLCanvasElement>, 'currentTarget' | 'clientX' | 'clientY'>;

function placeOf({ currentTarget, clientX, clientY }: BarEvent, pixels: number): BarPlace {
  const { left, width } = currentTarget.getBoundingClientRect();
  const pixel = Math.floor(((clientX - left) / width) * pixels);
  const shown = Math.max(0, Math.min(pixels - 1, pixel));
  return { from: shown / pixels, to: (shown + 1) / pixels, clientX, clientY };
}

export type BarPointer = ReturnType<typeof useBarPointer>;

/** Shows a tooltip for what is under the pointer, and selects it on a click. */
export function useBarPointer(event: number, order: SegmentOrder) {
  const ask = useAsk();
  const { view } = useStores();
  const pointer = useRef<BarPlace>(undefined);
  const [latest] = useState(() => new LatestOnly());
  useEffect(
    () => () => {
      latest.cancel();
      hideTooltip();
    },
    [latest],
  );
  const hitAt = (position: number, { from, to }: BarPlace, signal?: AbortSignal) =>
    ask('stateHit', { event, order, position, from, to }, { signal });
  const show = (hit: SegmentHit | undefined) => {
    const at = pointer.current;
    if (at === undefined || hit === undefined) hideTooltip();
    else showTooltip(contentOf(hit), at.clientX, at.clientY);
  };
  const select = (label: Promise<string | undefined>) => {
    label.then(
      (selection) => selection !== undefined && view.click('allocation', { selection }),
      () => undefined,
    );
  };
  return {
    hover(position: number, at: BarPlace) {
      pointer.current = at;
      latest
        .run((signal) => hitAt(position, at, signal))
        // The worker may be gone; the list reports it.
        .then(show, (error: unknown) => !isAbortError(error) && hideTooltip());
    },
    leave() {
      pointer.current = undefined;
      hideTooltip();
    },
    pick(position: number, at: BarPlace) {
      const found = hitAt(position, at);
      select(found.then((hit) => (hit?.kind === 'blocks' ? hit.hit.label : undefined)));
    },
    pickSite({ allocation }: PinSite) {
      select(ask('allocation', { index: allocation }).then(({ label }) => label));
    },
  };
}

function contentOf(hit: SegmentHit): TooltipContent {
  if (hit.kind === 'blocks') return hitContent(hit.hit);
  return {
    title: `${formatBytes(hit.sizeBytes)} free`,
    label: hit.addressHex,
    lines: [formatExactBytes(hit.sizeBytes)],
  };
}
