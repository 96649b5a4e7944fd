import { area, curveMonotoneX, line, scaleLinear } from 'd3';
import type { MouseEvent } from 'react';
import type { Series } from '../../../analysis/findings/types.ts';
import { formatBytes, formatCount, plural } from '../../../base/format.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';

/** In units of the drawing, which is stretched to the card's width. */
const WIDTH = 240;
const HEIGHT = 44;

interface SeriesPlotProps {
  readonly series: Series;
  /** How many the finding speaks of: the points may be fewer. */
  readonly steps: number | undefined;
  /** Goes to one of its events. */
  readonly onShow: (event: EventIndex) => void;
}

/** A finding's bytes over its steps; a click leads to the event under it. */
export function SeriesPlot({ series, steps = series.bytes.length, onShow }: SeriesPlotProps) {
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
      ? plural(steps, 'step')
      : `events ${formatCount(events[0] ?? 0)} to ${formatCount(events.at(-1) ?? 0)}`;
  const text = `${label}: ${formatBytes(bytes[0] ?? Number.NaN)} to ${formatBytes(bytes.at(-1) ?? Number.NaN)}, at most ${formatBytes(most)}, over ${span}`;
  const showAt = ({ clientX, detail, currentTarget }: MouseEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    // A key has no place: it leads to the last.
    const share = detail === 0 ? 1 : Math.max(0, Math.min(1, (clientX - left) / width));
    const event = events[Math.round(share * (events.length - 1))];
    if (event !== undefined) onShow(Math.max(0, event));
  };
  return (
    <figure className="series">
      <button
        type="button"
        className="series-button"
        title="Click a point to go to its event"
        onClick={showAt}
      >
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
      </button>
      <figcaption className="dim small">
        <span>{label}</span>
        <span>
          up to {formatBytes(most)}, {span}
        </span>
      </figcaption>
    </figure>
  );
}
