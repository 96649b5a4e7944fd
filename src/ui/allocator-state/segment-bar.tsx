import { type MouseEvent as BarMouseEvent, memo, useLayoutEffect, useRef } from 'react';
import type { SegmentBars } from '../../core/allocator-state/segment-bars.ts';
import { type BarColors, paintBar } from './paint-bar.ts';

/** A part of a segment in shares of it, and where the pointer is in the window. */
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
