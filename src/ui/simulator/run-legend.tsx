import { formatBytes, formatCount, formatDurationUs } from '../../core/base/format.ts';
import type { TimeAxis } from '../../core/raster/types.ts';
import type { WhatIfResult } from '../../core/simulator/types.ts';
import type { RecordedSide } from '../../engine/analysis/what-if-handler.ts';

interface RunLegendProps {
  readonly recorded: RecordedSide;
  readonly result: WhatIfResult | undefined;
  /** Under the pointer. */
  readonly part: number | undefined;
  readonly axis: TimeAxis;
}

/** What the lines are, with their peaks, or their highest values under the pointer. */
export function RunLegend({ recorded, result, part, axis }: RunLegendProps) {
  const { run } = recorded;
  const at = (values: Float64Array, peak: number) =>
    formatBytes(part === undefined ? peak : (values[part] ?? Number.NaN));
  return (
    <ul className="whatif-legend" aria-label="Lines">
      <li>
        <span className="whatif-swatch" data-line="was" aria-hidden />
        reserved, recorded <b>{at(run.reserved.highest, run.peakReservedBytes)}</b>
      </li>
      {result !== undefined && (
        <li>
          <span className="whatif-swatch" data-line="is" aria-hidden />
          reserved, chosen <b>{chosenAt(result, part)}</b>
        </li>
      )}
      <li>
        <span className="whatif-swatch" data-line="allocated" aria-hidden />
        allocated <b>{at(run.allocated.highest, run.peakAllocatedBytes)}</b>
      </li>
      <li className="dim">{part === undefined ? 'peaks' : placeText(recorded, part, axis)}</li>
    </ul>
  );
}

function chosenAt(result: WhatIfResult, part: number | undefined): string {
  if (part === undefined) return formatBytes(result.peakReservedBytes);
  const bytes = result.reserved.highest[part] ?? Number.NaN;
  return Number.isNaN(bytes) ? 'ended' : formatBytes(bytes);
}

/** 'events 1,200 to 1,205': a curve has one value for all of them, the highest. */
function placeText({ events, timesUs }: RecordedSide, part: number, axis: TimeAxis): string {
  const first = events[part] ?? 0;
  const last = Math.max(first, (events[part + 1] ?? 0) - 1);
  const where =
    first === last
      ? `event ${formatCount(first)}`
      : `highest in events ${formatCount(first)} to ${formatCount(last)}`;
  if (axis === 'event' || timesUs === undefined) return where;
  return `${where}, ${formatDurationUs(timesUs[part] ?? Number.NaN)}`;
}
