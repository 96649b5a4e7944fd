/** The columns of both lists. Ids are sort keys; the most useful columns come first. */
import { NEVER } from '../../../allocator/replay/types.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
  lowerBound,
  plural,
} from '../../../base/format.ts';
import { classLabel } from '../../../device/classes/types.ts';
import type { AllocationKey, AllocationRow } from '../../../device/lists/allocation-rows.ts';
import type { CallSiteRow } from '../../../device/lists/call-site-table.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { KnownValues } from '../../../device/search/qualifiers.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { SiteCell } from '../../shared/code-place.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { type Column, type ColumnWords, columnsIn } from '../../table/table-row.tsx';

/** Without a trace, starts and ends are unknown: the only known moment is the end. */
const NEEDS_TRACE: ReadonlySet<string> = new Set([
  ...['lifetime', 'start', 'end', 'cost'],
  ...['sitePeak', 'siteFirst', 'siteLast'],
]);

/** Fits '1023.99 KiB', the longest text of a size. */
const BYTES_WIDTH_PX = 98;

/** All columns that a link can sort by. */
export const ALLOCATION_WORDS = {
  size: ['Block', 'Block size, including rounding'],
  site: ['Code', 'The innermost line outside PyTorch and site-packages'],
  class: ['Class', 'What it is to the program, by stack and lifetime; the details say why'],
  holder: ['Holder', 'The variable that held it when the snapshot was taken'],
  lifetime: ['Lifetime'],
  start: ['Start'],
  end: ['End'],
  state: ['State', 'At the cursor; without a cursor, at the end'],
  waste: ['Waste', 'Bytes lost to rounding: block size minus requested size'],
  requested: ['Requested', 'Bytes your program requested'],
  cost: ['Size × lifetime', 'Block size times lifetime: what holding the block cost'],
  pool: ['Pool'],
  stream: ['Stream'],
  address: ['Allocation', 'Block address, and how many times it was used before'],
} as const satisfies ColumnWords<AllocationKey>;

/** Streams get a column only if there are several, holders only if the file names any. */
export function allocationColumns(
  device: DeviceInfo,
  axis: TimeAxis,
  known: KnownValues | undefined,
): readonly Column<AllocationRow>[] {
  const clock = clockOf(device, axis);
  const moment = momentWidthPx(device, clock);
  const [units, unit] =
    clock === 'time' ? ['time', 'time since the first event'] : ['events', 'event'];
  const { text, figure, bytes, code } = columnsIn<AllocationRow, AllocationKey>(ALLOCATION_WORDS);
  const hasHolders = (known?.holder?.length ?? 0) > 0;
  const hasStreams = (known?.stream?.length ?? 0) > 1;
  const hasPrivatePools = (known?.pool?.length ?? 0) > 0;
  const columns = [
    bytes('size', BYTES_WIDTH_PX, ({ blockBytes }) => blockBytes),
    text('site', 320, ({ line }) => <SiteCell {...line} />, { grow: 1 }),
    text('class', 118, (row) => <span title={classLabel(row.class)}>{classLabel(row.class)}</span>),
    ...(hasHolders
      ? [text('holder', 180, ({ holder }) => <span title={holder}>{holder}</span>)]
      : []),
    figure('lifetime', moment + 16, (row) => lifetimeText(row, clock), {
      title: `Lifetime in ${units}; ≥: longer than the trace covers`,
    }),
    figure('start', moment, ({ startEvent, startUs }) => momentText(startEvent, startUs, clock), {
      ...UP,
      title: `When it was allocated: ${unit}`,
    }),
    figure('end', moment, ({ endEvent, endUs }) => momentText(endEvent, endUs, clock), {
      ...UP,
      title: `When its free completed: ${unit}`,
    }),
    text('state', 64, ({ state }) => (
      <span className="allocation-state" data-state={state}>
        {state}
      </span>
    )),
    bytes('waste', BYTES_WIDTH_PX, ({ wasteBytes }) => wasteBytes),
    bytes('requested', BYTES_WIDTH_PX, ({ requestedBytes }) => requestedBytes),
    figure('cost', 116, (row) => (
      <span title={formatExactBytes(row.blockBytes)}>{costText(row, clock)}</span>
    )),
    text('pool', hasPrivatePools ? 92 : 56, ({ pool }) => pool),
    ...(hasStreams ? [code('stream', 104, ({ stream }) => stream)] : []),
    code('address', 144, ({ label }) => label),
  ];
  return sortable(device, columns);
}

const SITE_WORDS = {
  siteLine: [
    'Code',
    'The innermost line outside PyTorch and site-packages; one row per call stack',
  ],
  sitePeak: ['At the peak', 'Bytes of its blocks at the peak of active memory'],
  siteLive: ['At the end', 'Bytes of its blocks still live when the trace ends'],
  siteTotal: ['Total', 'Bytes of all its allocations added up, including freed ones'],
  siteCount: ['Count', 'Allocations'],
  siteLargest: ['Largest', 'Size of its largest block'],
  siteFirst: ['First', 'Start of its first allocation'],
  siteLast: ['Last', 'Start of its last allocation'],
  siteHolder: [
    'Holder',
    'What held its largest allocation, or else its last, when the snapshot was taken',
  ],
} as const;

export function siteColumns(
  device: DeviceInfo,
  axis: TimeAxis,
  known: KnownValues | undefined,
): readonly Column<CallSiteRow>[] {
  const clock = clockOf(device, axis);
  const moment = momentWidthPx(device, clock);
  const { text, figure, bytes } = columnsIn<CallSiteRow, keyof typeof SITE_WORDS>(SITE_WORDS);
  const columns = [
    text('siteLine', 420, ({ line, near }) => <SiteCell {...line} near={near} />, {
      grow: 1,
    }),
    bytes('sitePeak', 104, ({ peakBytes }) => peakBytes),
    figure('siteLive', 88, ({ endBytes, endCount }) => (
      <span title={plural(endCount, 'allocation')}>
        <Bytes bytes={endBytes} />
      </span>
    )),
    bytes('siteTotal', 88, ({ totalBytes }) => totalBytes),
    figure('siteCount', 68, ({ allocations, preexisting }) => (
      <span
        title={
          preexisting === 0 ? undefined : `${formatCount(preexisting)} from before the oldest event`
        }
      >
        {formatCount(allocations)}
      </span>
    )),
    bytes('siteLargest', 86, ({ largestBytes }) => largestBytes),
    figure('siteFirst', moment, (row) => momentText(row.firstEvent, row.firstUs, clock), UP),
    figure('siteLast', moment, (row) => momentText(row.lastEvent, row.lastUs, clock), UP),
  ];
  const holder = text('siteHolder', 180, (row) => <span title={row.holder}>{row.holder}</span>);
  const hasHolders = (known?.holder?.length ?? 0) > 0;
  return [...sortable(device, columns), ...(hasHolders ? [holder] : [])];
}

/** The earliest first. */
const UP = { first: 'up' } as const;

const clockOf = ({ hasTime }: DeviceInfo, axis: TimeAxis): TimeAxis =>
  axis === 'time' && hasTime ? 'time' : 'event';

const sortable = <R,>({ events }: DeviceInfo, columns: readonly Column<R>[]) =>
  columns
    .filter(({ id }) => events > 0 || !NEEDS_TRACE.has(id))
    .map((column) => ({ ...column, isSortable: true }));

const US_PER_S = 1e6;

/** '1,234' events or '2.05 s'; with '≥' if it outlived the trace. */
function lifetimeText(row: AllocationRow, axis: TimeAxis): string {
  const text = axis === 'event' ? formatCount(row.lifeEvents) : formatDurationUs(row.lifeUs);
  return lowerBound(text, row.isLifeLonger && !Number.isNaN(lifetimeOf(row, axis)));
}

/** Bytes × lifetime, in seconds or events: '1.26 GiB·s'. */
function costText(row: AllocationRow, axis: TimeAxis): string {
  const lifetime = lifetimeOf(row, axis);
  if (Number.isNaN(lifetime)) return 'unknown';
  const cost = row.blockBytes * (axis === 'event' ? lifetime : lifetime / US_PER_S);
  const text = `${formatBytes(cost >= 1024 ? cost : Math.round(cost))}·${axis === 'event' ? 'ev' : 's'}`;
  return lowerBound(text, row.isLifeLonger);
}

function lifetimeOf({ lifeEvents, lifeUs }: AllocationRow, axis: TimeAxis): number {
  return axis === 'event' ? lifeEvents : lifeUs;
}

/** An event or its time; 'before' or 'never' outside the trace. */
function momentText(event: number, timeUs: number, axis: TimeAxis): string {
  if (event < 0) return 'before';
  if (event === NEVER) return 'never';
  return axis === 'event' ? formatCount(event) : formatDurationUs(timeUs);
}

/** Fits any moment of the trace: '5,774,182', or '59 min 59 s'. */
function momentWidthPx({ events }: DeviceInfo, clock: TimeAxis): number {
  const letters = clock === 'event' ? formatCount(events).length : 9;
  return CELL_PADDING_PX + LETTER_PX * Math.max(LEAST_LETTERS, letters);
}

/** Width of a digit, rounded up. */
const LETTER_PX = 8;
const CELL_PADDING_PX = 18;
const LEAST_LETTERS = 6;
