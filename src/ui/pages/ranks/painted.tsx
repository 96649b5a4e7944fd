/** Small pictures of a rank on a common scale: its bar, its strip, and the canvas that shows them. */
import { useLayoutEffect, useRef } from 'react';
import { MEMORY_CLASS_ORDER } from '../../../device/classes/types.ts';
import { classColors, type ThemeName } from '../../theme/palette.ts';

/** Draws into a canvas whose size is in CSS pixels. */
export type Paint = (context: CanvasRenderingContext2D, width: number, height: number) => void;

interface PaintedProps {
  readonly paint: Paint;
  readonly width: number;
  readonly height: number;
}

/** A canvas with the picture that `paint` draws, sharp on any screen. The text beside it says the same in words. */
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

interface Bar {
  readonly classBytes: readonly number[];
  readonly reservedBytes: number | null;
  /** Bytes that the full width represents. */
  readonly scaleBytes: number;
}

/** Allocated bytes at the peak by class, and a tick at the peak of reserved bytes. */
export function paintBar({ classBytes, reservedBytes, scaleBytes }: Bar, theme: ThemeName): Paint {
  const colors = classColors(theme, 'class');
  return (context, width, height) => {
    let at = 0;
    for (const of of MEMORY_CLASS_ORDER) {
      const size = ((classBytes[of] ?? 0) / scaleBytes) * width;
      context.fillStyle = colors[of] ?? 'gray';
      context.fillRect(at, 3, size, height - 6);
      at += size;
    }
    if (reservedBytes === null) return;
    context.fillStyle = theme === 'dark' ? '#e7eaef' : '#1a1e26';
    context.fillRect(Math.min(width - 1, (reservedBytes / scaleBytes) * width), 1, 1, height - 2);
  };
}

/** Allocated bytes over the recording. */
export function paintStrip(curve: Float32Array, scaleBytes: number, color: string): Paint {
  return (context, width, height) => {
    context.fillStyle = color;
    const step = width / curve.length;
    curve.forEach((bytes, i) => {
      if (Number.isNaN(bytes)) return;
      const size = (bytes / scaleBytes) * (height - 2);
      context.fillRect(i * step, height - 1 - size, Math.ceil(step), size);
    });
  };
}
