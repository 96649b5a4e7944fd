/** Labels, figures and tooltips of the flame graph. */
import { assertUnreachable } from '../../../base/errors.ts';
import { snapshotStem } from '../../../base/file-names.ts';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatPercent,
  plural,
} from '../../../base/format.ts';
import { noFrameText } from '../../../device/flame-graph/flame-context.ts';
import type {
  FlameFrames,
  FlameGroup,
  FlameGrouping,
  FlameSet,
  FlameWeight,
} from '../../../device/flame-graph/types.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { FlameView } from '../../../state/view-store.ts';
import type { TooltipContent } from '../../plot/tooltip.ts';
import type { FlameBox } from './flame-layout.ts';

export const DATASET_TEXT: Readonly<Record<FlameView['dataset'], string>> = {
  peak: 'live at the peak',
  cursor: 'live at the cursor',
  end: 'live at the end',
  window: 'allocated in the window',
  difference: 'difference of both cursors',
};

export const WEIGHT_TEXT: Readonly<Record<FlameWeight, string>> = {
  bytes: 'bytes (active)',
  allocated: 'bytes (allocated)',
  count: 'allocations',
  lifetime: 'bytes × lifetime',
};

export const WEIGHT_TITLE: Readonly<Record<FlameWeight, string>> = {
  bytes: 'Block bytes until their free completed, the same as in the timeline',
  allocated: 'Block bytes until your program freed them, the same as torch.cuda.memory_allocated()',
  count: 'Number of allocations',
  lifetime: 'Block bytes times their lifetime within the trace',
};

export const GROUPING_TEXT: Readonly<Record<FlameGrouping, string>> = {
  line: 'line',
  class: 'class, then line',
  stack: 'call stack',
  function: 'function',
  file: 'file',
  module: 'module',
  holder: 'variable',
};

export const FRAMES_TEXT: Readonly<Record<FlameFrames, string>> = {
  own: 'your code',
  known: 'your code and libraries',
  all: 'all frames',
};

interface WeightFormat {
  /** Short: '2.05 GiB'. With `isSigned`, growth has a plus sign. */
  readonly short: (value: number) => string;
  readonly exact: (value: number) => string;
}

/** How a weight is written. With `hasTime`, lifetimes are microseconds, else events. */
export function weightFormat(
  weight: FlameWeight,
  hasTime: boolean,
  isSigned: boolean,
): WeightFormat {
  const signed = (write: (value: number) => string) => (value: number) =>
    isSigned && value > 0 ? `+${write(value)}` : write(value);
  if (weight === 'count') return { short: signed(formatCount), exact: signed(formatCount) };
  if (weight !== 'lifetime') return { short: signed(formatBytes), exact: signed(formatExactBytes) };
  const [scale, unit] = hasTime ? [1e6, 's'] : [1, 'events'];
  const short = signed((value) => `${formatBytes(Math.round(value / scale))} · ${unit}`);
  return { short, exact: short };
}

/** '3 allocations'; in a difference '+3 allocations'. */
export function countText(count: number, isSigned: boolean): string {
  const sign = isSigned && count > 0 ? '+' : '';
  return `${sign}${formatCount(count)} ${Math.abs(count) === 1 ? 'allocation' : 'allocations'}`;
}

/** '98.2%'; only 0 is '0%'. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '0%';
  return formatPercent(Math.abs(part) / whole, 1);
}

export function groupLabel(group: FlameGroup): string {
  return group.kind === 'absent' ? noFrameText(group.reason) : group.label;
}

export function boxLabel({ data: { group, hidden } }: FlameBox): string {
  if (group !== undefined) return groupLabel(group);
  return hidden === 0 ? 'all' : `${formatCount(hidden)} smaller`;
}

/** As in lists, without the boxes above it: the whole name of a variable's part. */
export function groupName(group: FlameGroup): string {
  return group.kind === 'holder' ? group.name : groupLabel(group);
}

/** '' if it has none, or if its label says everything. */
export function groupPlace(group: FlameGroup | undefined): string {
  return group?.kind === 'frame' ? group.location : '';
}

/** What the total covers: 'Live at the peak, after event 6,302'. */
export function setText(
  set: FlameSet,
  of: FlameView['dataset'],
  { hasCursor, hasTrace }: { readonly hasCursor: boolean; readonly hasTrace: boolean },
): string {
  switch (set.kind) {
    case 'live': {
      if (!hasTrace) return 'Live when the snapshot was taken';
      if (set.event < 0) return 'Live before the first event';
      const event =
        set.event < 0 ? 'before the first event' : `after event ${formatCount(set.event)}`;
      if (of === 'peak') return `Live at the peak, ${event}`;
      if (of === 'end') return `Live at the end, ${event}`;
      return hasCursor
        ? `Live at the cursor, ${event}`
        : `Live at the end, ${event}: no cursor is set`;
    }
    case 'window':
      return `Allocated by ${eventRangeText(set.from, set.to)}`;
    case 'difference':
      return `Change from event ${formatCount(set.before)} to event ${formatCount(set.after)}`;
    default:
      return assertUnreachable(set);
  }
}

/** 'events 3 to 9', both included, for from <= e < to. */
export function eventRangeText(from: number, to: number): string {
  if (to <= from) return 'no event';
  if (to === from + 1) return `event ${formatCount(from)}`;
  return `events ${formatCount(from)} to ${formatCount(to - 1)}`;
}

export function exportName(
  fileName: string,
  flame: FlameView,
  device: Pick<DeviceInfo, 'kind' | 'device'>,
): string {
  const place = device.kind === 'host' ? 'host' : `gpu${device.device}`;
  return `${snapshotStem(fileName)}-${place}-${flame.dataset}-${flame.weight}`;
}

export interface FlameFigures {
  readonly format: WeightFormat;
  readonly isDifference: boolean;
  readonly hasSearch: boolean;
  /** What shares are shares of. */
  readonly totalMagnitude: number;
}

export function boxTooltip(box: FlameBox, figures: FlameFigures): TooltipContent {
  const { format, isDifference, hasSearch, totalMagnitude } = figures;
  const { value, magnitude, matched, count, hidden, group } = box.data;
  const place = groupPlace(group);
  const share = `${shareText(magnitude, totalMagnitude)} of ${isDifference ? 'the total change' : 'all'}`;
  const lines = [
    ...(place === '' ? [] : [place]),
    `${format.exact(value)}, ${share}`,
    countText(count, isDifference),
    ...(hasSearch ? [`${shareText(matched, magnitude)} of it matches the search`] : []),
  ];
  const name = group === undefined ? boxLabel(box) : groupName(group);
  const title = hidden > 0 ? `${plural(hidden, 'box', 'boxes')} too small to see` : name;
  return { title, label: format.short(value), lines };
}
