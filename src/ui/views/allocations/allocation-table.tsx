import { type ReactNode, useCallback, useMemo } from 'react';
import { NEVER } from '../../../allocator/replay/types.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
} from '../../../base/format.ts';
import type { AllocationRow } from '../../../device/lists/allocation-rows.ts';
import type { DeviceInfo } from '../../../device/model/types.ts';
import type { KnownValues } from '../../../device/search/qualifiers.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { windowShowing } from '../../panels/search/use-search.ts';
import { SiteCell } from '../../shared/code-place.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import type { Column } from '../../table/table-row.tsx';
import { ALLOCATION_LIST, type ListOrder } from './list.ts';
import { ListTable } from './list-table.tsx';

interface AllocationTableProps {
  readonly order: Extract<ListOrder, { of: 'allocations' }>;
  readonly switcher: ReactNode;
}

const HINT =
  'Space selects, Enter or a double click shows it in the timeline, F searches for its call site, C copies';

/** A row for each allocation. */
export function AllocationTable(props: AllocationTableProps) {
  const { device } = useDevice();
  const { view } = useStores();
  const axis = useView((state) => state.axis);
  const known = useQuery('searchValues', {}).value;
  const columns = useMemo(() => allocationColumns(device, axis, known), [device, axis, known]);
  const open = useCallback(
    (row: AllocationRow) => {
      const now = view.getState().view;
      const x = windowShowing(now.x, now.axis, row, device);
      view.commit({ view: 'timeline', selection: row.label, x });
    },
    [view, device],
  );
  return (
    <ListTable {...props} queries={ALLOCATION_LIST} hint={HINT} columns={columns} onOpen={open} />
  );
}

/** Without a trace, starts and ends are unknown. */
const NEEDS_TRACE: ReadonlySet<string> = new Set(['lifetime', 'start', 'end', 'cost']);

/**
 * The most useful columns first. Ids are keys of the sort order. Streams get a column only where
 * there are several, holders only where the file names any.
 */
function allocationColumns(
  device: DeviceInfo,
  axis: TimeAxis,
  known: KnownValues | undefined,
): readonly Column<AllocationRow>[] {
  const { hasTime, events } = device;
  const clock = axis === 'time' && hasTime ? 'time' : 'event';
  const hasPrivatePools = (known?.pool?.length ?? 0) > 0;
  const moment = momentWidthPx(device, clock);
  const unit = clock === 'time' ? 'time since the first event' : 'event';
  const columns: readonly Column<AllocationRow>[] = [
    {
      id: 'size',
      header: 'Block',
      title: 'Block size, including rounding',
      widthPx: BYTES_WIDTH_PX,
      align: 'end',
      render: ({ blockBytes }) => <Bytes bytes={blockBytes} />,
    },
    {
      id: 'site',
      header: 'Code',
      title: 'The innermost line outside PyTorch and site-packages',
      widthPx: 230,
      grow: 1,
      render: ({ line }) => <SiteCell {...line} />,
    },
    {
      id: 'class',
      header: 'Class',
      title: 'What it is to the program, by stack and lifetime; the details say why',
      widthPx: 104,
      render: ({ class: own }) => own.replace('-', ' '),
    },
    ...((known?.holder?.length ?? 0) > 0 ? [HOLDER] : []),
    {
      id: 'lifetime',
      header: 'Lifetime',
      title: `Lifetime in ${clock === 'time' ? 'time' : 'events'}; ≥: longer than the trace covers`,
      widthPx: moment + 16,
      align: 'end',
      render: (row) => lifetimeText(row, clock),
    },
    {
      id: 'start',
      header: 'Start',
      title: `When it was allocated: ${unit}`,
      widthPx: moment,
      align: 'end',
      render: ({ startEvent, startUs }) => startText(startEvent, startUs, clock),
    },
    {
      id: 'end',
      header: 'End',
      title: `When its free completed: ${unit}`,
      widthPx: moment,
      align: 'end',
      render: (row) => endText(row, clock),
    },
    {
      id: 'state',
      header: 'State',
      title: 'At the cursor; without a cursor, at the end',
      widthPx: 72,
      render: ({ state }) => (
        <span className="allocation-state" data-state={state}>
          {state}
        </span>
      ),
    },
    {
      id: 'waste',
      header: 'Waste',
      title: 'Bytes lost to rounding: block size minus requested size',
      widthPx: 82,
      align: 'end',
      render: ({ wasteBytes }) => <Bytes bytes={wasteBytes} />,
    },
    {
      id: 'requested',
      header: 'Requested',
      title: 'Bytes your program requested',
      widthPx: BYTES_WIDTH_PX,
      align: 'end',
      render: ({ requestedBytes }) => <Bytes bytes={requestedBytes} />,
    },
    {
      id: 'cost',
      header: 'Size × lifetime',
      title: 'Block size times lifetime: what holding the block cost',
      widthPx: 130,
      align: 'end',
      render: (row) => <span title={formatExactBytes(row.blockBytes)}>{costText(row, clock)}</span>,
    },
    {
      id: 'pool',
      header: 'Pool',
      widthPx: hasPrivatePools ? 92 : 56,
      render: ({ pool }) => pool,
    },
    ...((known?.stream?.length ?? 0) > 1 ? [STREAM] : []),
    {
      id: 'address',
      header: 'Allocation',
      title: 'Block address, and how many times it was used before',
      widthPx: 144,
      render: ({ label }) => (
        <span className="mono" title={label}>
          {label}
        </span>
      ),
    },
  ];
  return columns
    .filter(({ id }) => events > 0 || !NEEDS_TRACE.has(id))
    .map((column) => ({ ...column, isSortable: true }));
}

const HOLDER: Column<AllocationRow> = {
  id: 'holder',
  header: 'Holder',
  title: 'The variable that held it when the snapshot was taken',
  widthPx: 180,
  render: ({ holder }) => <span title={holder}>{holder}</span>,
};

const STREAM: Column<AllocationRow> = {
  id: 'stream',
  header: 'Stream',
  widthPx: 104,
  render: ({ stream }) => (
    <span className="mono" title={stream}>
      {stream}
    </span>
  ),
};

/** '1023.99 KiB' is the widest: the next is 1.00 MiB. */
const BYTES_WIDTH_PX = 98;

const US_PER_S = 1e6;

/** '1,234' events or '2.05 s'; with '≥' if it outlived the trace. */
function lifetimeText(row: AllocationRow, axis: TimeAxis): string {
  const text = axis === 'event' ? formatCount(row.lifeEvents) : formatDurationUs(row.lifeUs);
  return row.isLifeLonger && !Number.isNaN(lifetimeOf(row, axis)) ? `≥ ${text}` : text;
}

/** Bytes × lifetime: '1.26 GiB·s', or per event; what it costs to hold it so long. */
function costText(row: AllocationRow, axis: TimeAxis): string {
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
function endText({ endEvent, endUs }: AllocationRow, axis: TimeAxis): string {
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
