import { area, curveMonotoneX, line, scaleLinear } from 'd3';
import { formatBytes, formatCount } from '../../core/base/format.ts';
import type { Series } from '../../core/findings/types.ts';

/** In units of the drawing, which is stretched to the card's width. */
const WIDTH = 240;
const HEIGHT = 44;

/** A finding's bytes over its steps. */
export function SeriesPlot({ series }: { readonly series: Series }) {
  const { bytes, unit, label, events } = series;
  const most = Math.max(...bytes);
  const x = scaleLinear([0, Math.max(1, bytes.length - 1)], [0, WIDTH]);
  const y = scaleLinear([0, Math.max(1, most)], [HEIGHT, 1]);
  const shape = area<number>(
    (_, i) => x(i),
    HEIGHT,
    (value) => y(value),
  ).curve(curveMonotoneX);
  const edge = line<number>(
    (_, i) => x(i),
    (value) => y(value),
  ).curve(curveMonotoneX);
  const span =
    unit === 'step'
      ? `${formatCount(bytes.length)} steps`
      : `events ${formatCount(events[0] ?? 0)} to ${formatCount(events.at(-1) ?? 0)}`;
  const text = `${label}: ${formatBytes(bytes[0] ?? Number.NaN)} to ${formatBytes(bytes.at(-1) ?? Number.NaN)}, at most ${formatBytes(most)}, over ${span}`;
  return (
    <figure className="series">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        <title>{text}</title>
        <path className="series-area" d={shape(bytes) ?? ''} />
        <path className="series-line" d={edge(bytes) ?? ''} />
      </svg>
      <figcaption>
        <span>{label}</span>
        <span>
          up to {formatBytes(most)}, {span}
        </span>
      </figcaption>
    </figure>
  );
}
