import { useLayoutEffect, useRef } from 'react';
import type { Paint } from './paint-rank.ts';

interface PaintedProps {
  readonly paint: Paint;
  readonly width: number;
  readonly height: number;
}

/** A canvas that shows what `paint` draws, sharp on any screen. What it shows is said beside it in words. */
export function Painted({ paint, width, height }: PaintedProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (canvas.current === null || context == null) return;
    const scale = window.devicePixelRatio;
    canvas.current.width = Math.max(1, Math.round(width * scale));
    canvas.current.height = Math.max(1, Math.round(height * scale));
    context.scale(scale, scale);
    paint(context, width, height);
  }, [paint, width, height]);
  return <canvas ref={canvas} aria-hidden style={{ width, height }} />;
}
