import { extent, interpolateViridis } from 'd3';
import { type MouseEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { JobView } from '../../../analysis/ranks/job-view.ts';
import { formatBytes } from '../../../base/format.ts';
import { MEMORY_CLASS_ORDER } from '../../../device/classes/types.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { Button } from '../../shared/buttons.tsx';
import { classColors, plotStyle, type ThemeName } from '../../theme/palette.ts';
import type { ListItem } from './rank-list.tsx';

const MIN_ROW_PX = 1;
const MAX_ROW_PX = 22;
const WANTED_HEIGHT_PX = 560;

interface HeatMapProps {
  readonly job: JobView;
  readonly items: readonly ListItem[];
  readonly onSelect: (rank: number, column: number) => void;
}

interface Place {
  readonly index: number;
  readonly column: number;
}

/** Allocated bytes by rank and step. A bright row is an outlier; a bright column is a phase that all ranks share. */
export function HeatMap({ job, items, onSelect }: HeatMapProps) {
  const [hovered, setHovered] = useState<Place>();
  const order = useMemo(
    () => items.flatMap((item) => (item.kind === 'rank' ? [item.index] : [])),
    [items],
  );
  const rowPx = Math.min(MAX_ROW_PX, Math.max(MIN_ROW_PX, WANTED_HEIGHT_PX / order.length));
  const paint = useMemo(() => paintHeat(job, order, rowPx), [job, order, rowPx]);
  if (job.heatSteps === 0) {
    return (
      <p className="note dim">
        No steps were found in these recordings, so they cannot be lined up.
      </p>
    );
  }
  function placeOf({ nativeEvent, currentTarget }: MouseEvent): Place | undefined {
    const index = order[Math.floor(nativeEvent.offsetY / rowPx)];
    const share = nativeEvent.offsetX / currentTarget.clientWidth;
    const column = Math.floor(share * job.heatSteps);
    return index === undefined ? undefined : { index, column };
  }
  return (
    <div className="ranks-heat">
      <p className="note dim" role="status">
        {hovered === undefined ? hintOf(job) : placeText(job, hovered)}
      </p>
      <div className="heat-rows">
        {rowPx === MAX_ROW_PX && (
          <ul className="small dim heat-ranks" aria-hidden>
            {order.map((index) => (
              <li key={index} style={{ height: rowPx }}>
                rank {job.ranks[index]?.rank}
              </li>
            ))}
          </ul>
        )}
        <Button
          className="whole-line heat-canvas"
          aria-label={`Heat map of ${order.length} ranks by ${job.heatSteps * job.stepsPerColumn} steps; the list has the same figures`}
          onMouseMove={(event) => setHovered(placeOf(event))}
          onMouseLeave={() => setHovered(undefined)}
          onClick={(event) => {
            const place = placeOf(event);
            const rank = place && job.ranks[place.index]?.rank;
            if (place !== undefined && rank !== undefined) onSelect(rank, place.column);
          }}
        >
          <Painted paint={paint} height={order.length * rowPx} />
        </Button>
      </div>
      <p className="spread small dim heat-steps" aria-hidden>
        <span>step 0</span>
        <span>step {job.heatSteps * job.stepsPerColumn - 1}</span>
      </p>
    </div>
  );
}

function hintOf({ heat }: JobView): string {
  const [low = 0, high = 0] = extent(heat);
  return `Each row is a rank, each column a step, from ${formatBytes(low)} (dark) to ${formatBytes(high)} (bright). Click a place to look at that rank and step.`;
}

function placeText(job: JobView, { index, column }: Place): string {
  const rank = job.ranks[index];
  const bytes = job.heat[index * job.heatSteps + column];
  const from = column * job.stepsPerColumn;
  const steps =
    job.stepsPerColumn === 1 ? `step ${from}` : `steps ${from} to ${from + job.stepsPerColumn - 1}`;
  const value =
    bytes === undefined || Number.isNaN(bytes)
      ? 'nothing recorded'
      : `${formatBytes(bytes)} allocated at most`;
  return `Rank ${rank?.rank}, ${steps} (from 0): ${value}`;
}

/** Paints one image pixel per rank and step and stretches the image: rows thinner than a pixel share one. */
function paintHeat(job: JobView, order: readonly number[], rowPx: number): Paint {
  const { heat, heatSteps } = job;
  const [low = 0, high = 0] = extent(heat);
  const colors = Array.from({ length: 64 }, (_, i) => interpolateViridis(i / 63));
  return (context, width) => {
    const columnPx = width / heatSteps;
    order.forEach((index, row) => {
      for (let column = 0; column < heatSteps; column++) {
        const bytes = heat[index * heatSteps + column] ?? Number.NaN;
        if (Number.isNaN(bytes)) continue;
        const share = high > low ? (bytes - low) / (high - low) : 0;
        context.fillStyle = colors[Math.round(share * 63)] ?? 'gray';
        context.fillRect(column * columnPx, row * rowPx, Math.ceil(columnPx), Math.ceil(rowPx));
      }
    });
  };
}

/** Draws into a canvas whose size is in CSS pixels. */
export type Paint = (context: CanvasRenderingContext2D, width: number, height: number) => void;

/** A canvas as wide as its place, with the picture that `paint` draws. The text beside it says the same in words. */
export function Painted({ paint, height }: { readonly paint: Paint; readonly height: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useElementWidth(canvas);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (canvas.current === null || context == null) return;
    const scale = window.devicePixelRatio;
    canvas.current.width = Math.max(1, Math.round(width * scale));
    canvas.current.height = Math.max(1, Math.round(height * scale));
    context.scale(scale, scale);
    paint(context, width, height);
  }, [paint, width, height]);
  return <canvas ref={canvas} aria-hidden style={{ width: '100%', height }} />;
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
    context.fillStyle = plotStyle(theme).ink;
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
