import { NEVER } from '../../../allocator/replay/types.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../../base/format.ts';
import type { AllocationRow } from '../../../device/lists/allocation-list-types.ts';
import type { DeviceInfo } from '../../../device/model/types.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';

/** '1023.99 KiB' is the widest: the next is 1.00 MiB. */
export const BYTES_WIDTH_PX = 98;

const US_PER_S = 1e6;

/** '1,234' events or '2.05 s'; with '≥' if it outlived the trace. */
export function lifetimeText(row: AllocationRow, axis: TimeAxis): string {
  const text = axis === 'event' ? formatCount(row.lifeEvents) : formatDurationUs(row.lifeUs);
  return row.isLifeLonger && !Number.isNaN(lifetimeOf(row, axis)) ? `≥ ${text}` : text;
}

/** Bytes × lifetime: '1.26 GiB·s', or per event; what it costs to hold it so long. */
export function costText(row: AllocationRow, axis: TimeAxis): string {
  const lifetime = lifetimeOf(row, axis);
  if (Number.isNaN(lifetime)) return 'unknown';
  const cost = row.blockBytes * (axis === 'event' ? lifetime : lifetime / US_PER_S);
  const text = `${formatBytes(cost >= 1024 ? cost : Math.round(cost))}·${axis === 'event' ? 'ev' : 's'}`;
  return row.isLifeLonger ? `≥ ${text}` : text;
}

function lifetimeOf({ lifeEvents, lifeUs }: AllocationRow, axis: TimeAxis): number {
  return axis === 'event' ? lifeEvents : lifeUs;
}

/** When it began; 'before' the trace. */
export function startText(event: number, timeUs: number, axis: TimeAxis): string {
  if (event < 0) return 'before';
  return axis === 'event' ? formatCount(event) : formatDurationUs(timeUs);
}

/** When its free was completed; 'never' within the trace. */
export function endText({ endEvent, endUs }: AllocationRow, axis: TimeAxis): string {
  if (endEvent === NEVER) return 'never';
  return axis === 'event' ? formatCount(endEvent) : formatDurationUs(endUs);
}

/** Room for any moment of the trace: '5,774,182', or '59 min 59 s'. */
export function momentWidthPx({ events }: DeviceInfo, clock: TimeAxis): number {
  const letters = clock === 'event' ? formatCount(events).length : 9;
  return CELL_PADDING_PX + LETTER_PX * Math.max(LEAST_LETTERS, letters);
}

/** Of tabular figures at the size of the page, rounded up. */
const LETTER_PX = 8;
const CELL_PADDING_PX = 18;
/** 'before' takes as much. */
const LEAST_LETTERS = 6;
