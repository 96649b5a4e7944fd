import {
  type MouseEvent as BarMouseEvent,
  memo,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { isAbortError } from '../../../base/errors.ts';
import { formatBytes, formatExactBytes } from '../../../base/format.ts';
import { LatestOnly } from '../../../base/latest-only.ts';
import type { PinSite } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentBars, SegmentHit } from '../../../device/allocator-state/segment-bars.ts';
import type { SegmentOrder } from '../../../device/allocator-state/segment-groups.ts';
import { useStores } from '../../../state/stores.ts';
import type { StateHitRequest } from '../../../worker/handlers/allocator-state.ts';
import { hideTooltip, hitContent, showTooltip, type TooltipContent } from '../../plot/tooltip.ts';
import { useAsk, type WithoutDevice } from '../../shared/use-query.ts';
import { type BarColors, paintBar } from './paint-bar.ts';

/** A part of a segment, as fractions of its size, and where the pointer is in the window. */
export interface BarPlace {
  readonly from: number;
  readonly to: number;
  readonly clientX: number;
  readonly clientY: number;
}

type BarEvent = Pick<BarMouseEvent<HTMLCanvasElement>, 'currentTarget' | 'clientX' | 'clientY'>;

interface SegmentBarProps {
  readonly bars: SegmentBars;
  readonly index: number;
  readonly heightPx: number;
  readonly colors: BarColors;
  readonly selected: number;
  readonly onHover: (place: BarPlace | undefined) => void;
  readonly onPick: (place: BarPlace) => void;
}

export const SegmentBar = memo(function SegmentBar(props: SegmentBarProps) {
  const { bars, index, heightPx, colors, selected, onHover, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a canvas of another height is blank
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context) paintBar(context, bars, index, colors, selected);
  }, [bars, index, colors, selected, heightPx]);
  return (
    // The list takes the keys: from block to block with Shift and the arrows.
    <canvas
      ref={canvas}
      className="segment-bar"
      aria-hidden
      width={bars.width}
      height={heightPx}
      onPointerMove={(event) => onHover(pointerOffset(event, bars.width))}
      onPointerLeave={() => onHover(undefined)}
      onClick={(event) => onPick(pointerOffset(event, bars.width))}
    />
  );
});

function pointerOffset({ currentTarget, clientX, clientY }: BarEvent, pixels: number): BarPlace {
  const { left, width } = currentTarget.getBoundingClientRect();
  const pixel = Math.floor(((clientX - left) / width) * pixels);
  const shown = Math.max(0, Math.min(pixels - 1, pixel));
  return { from: shown / pixels, to: (shown + 1) / pixels, clientX, clientY };
}

type HitRequest = WithoutDevice<StateHitRequest>;

/** The state on screen. */
interface ShownState {
  readonly event: number;
  readonly order: SegmentOrder;
}

interface BarPointer {
  /** The pointer is over the bar of the segment at a position; undefined: over none. */
  hover(position: number, at: BarPlace | undefined): void;
  /** Selects the block that is there. */
  pick(position: number, at: BarPlace): void;
  pickSite(site: PinSite): void;
}

/** Shows a tooltip for what is under the pointer, and selects it on a click. */
export function useBarPointer({ event, order }: ShownState): BarPointer {
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
  const show = (hit: SegmentHit | undefined) => {
    const at = pointer.current;
    if (at === undefined || hit === undefined) hideTooltip();
    else showTooltip(contentOf(hit), at.clientX, at.clientY);
  };
  const requestAt = ({ from, to }: BarPlace, position: number): HitRequest => {
    return { event, order, position, from, to };
  };
  const select = (label: Promise<string | undefined>) => {
    label.then(
      (selection) => selection !== undefined && view.click('allocation', { selection }),
      () => undefined,
    );
  };
  return {
    hover(position, at) {
      pointer.current = at;
      if (at === undefined) hideTooltip();
      else
        void latest
          .run((signal) => ask('stateHit', requestAt(at, position), { signal }))
          // The worker may be gone; the list reports it.
          .then(show, (error: unknown) => !isAbortError(error) && hideTooltip());
    },
    pick(position, at) {
      const hit = ask('stateHit', requestAt(at, position));
      select(hit.then((found) => (found?.kind === 'blocks' ? found.hit.label : undefined)));
    },
    pickSite({ allocation }) {
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
