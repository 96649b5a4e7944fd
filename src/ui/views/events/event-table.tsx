import { CornerDownRight } from 'lucide-react';
import { useMemo } from 'react';
import { formatCount, formatDurationUs } from '../../../base/format.ts';
import type { EventFacets } from '../../../device/lists/event-list.ts';
import type { EventPair, EventRow } from '../../../device/lists/event-reader.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { SiteCell } from '../../shared/code-place.tsx';
import { useDevice } from '../../shared/services.ts';
import { type Column, columnsIn } from '../../table/table-row.tsx';
import { VirtualTable, type VirtualTableProps } from '../../table/virtual-table.tsx';

interface EventTableProps
  extends Pick<VirtualTableProps<EventRow>, 'source' | 'shown' | 'ref' | 'empty'> {
  readonly facets: EventFacets | undefined;
  readonly onGoTo: (event: EventIndex) => void;
}

/** Clicking a row moves the cursor to it; L goes to its counterpart, such as the free of an alloc. */
export function EventTable({ facets, onGoTo, ...props }: EventTableProps) {
  const { device } = useDevice();
  const { view } = useStores();
  const columns = useMemo(() => eventColumns(device, facets, onGoTo), [device, facets, onGoTo]);
  const cursor = useView((state) => state.cursor);
  const selection = useView((state) => state.selection);
  return (
    <VirtualTable
      {...props}
      label="Events"
      columns={columns}
      rowState={({ event, action, allocation }) => ({
        isCurrent: event === cursor,
        isSelected: allocation !== undefined && allocation === selection,
        tone: action === 'oom' ? 'danger' : undefined,
      })}
      onActivate={({ event, allocation }) =>
        view.click('allocation', {
          cursor: event,
          ...(allocation !== undefined && { selection: allocation }),
        })
      }
      onRowKey={(key, { pair }) => {
        if (key !== 'l' || pair.kind !== 'event') return false;
        onGoTo(pair.event);
        return true;
      }}
    />
  );
}

const WORDS = {
  event: ['Event'],
  time: ['Time', 'Since the first event'],
  action: ['Action'],
  size: ['Size', 'Requested bytes for allocations and frees, segment size for segments'],
  code: ['Code', 'The innermost line outside PyTorch and site-packages'],
  pair: ['Pair', 'The free of an allocation, the allocation of a free; likewise for segments'],
  allocated: ['Allocated', 'Allocated bytes after the event'],
  reserved: ['Reserved', 'Reserved bytes after the event'],
  address: [
    'Address',
    'As PyTorch writes it: b for block, s for segment, then the address and its use count',
  ],
  pool: ['Pool'],
  stream: ['Stream'],
} as const;

/** Streams get a column only if there are several, times only if the file has them. */
function eventColumns(
  device: DeviceInfo,
  facets: EventFacets | undefined,
  onGoTo: (event: number) => void,
): readonly Column<EventRow>[] {
  const { text, figure, bytes, code } = columnsIn<EventRow, keyof typeof WORDS>(WORDS);
  const hasStreams = (facets?.streams.length ?? 0) > 1;
  const poolPx = (facets?.pools.length ?? 0) > 2 ? 88 : 52;
  return [
    figure('event', 70, ({ event }) => formatCount(event)),
    ...(device.hasTime ? [figure('time', 86, ({ timeUs }) => formatDurationUs(timeUs))] : []),
    text('action', 122, ({ action }) => (
      <span className="event-action" data-action={action} title={action}>
        {action}
      </span>
    )),
    bytes('size', 86, ({ sizeBytes }) => sizeBytes),
    text('code', 190, ({ frame, ...row }) => <SiteCell topFrame={frame} {...row} />, { grow: 1 }),
    figure('pair', 84, ({ pair }) => <Pair pair={pair} onGoTo={onGoTo} />),
    bytes('allocated', 84, ({ allocatedBytes }) => allocatedBytes),
    bytes('reserved', 86, ({ reservedBytes }) => reservedBytes),
    code('address', 138, ({ address }) => address),
    text('pool', poolPx, ({ pool, privatePool }) => [pool, privatePool].filter(Boolean).join(' ')),
    ...(hasStreams ? [code('stream', 110, ({ stream }) => stream)] : []),
  ];
}

interface PairProps {
  readonly pair: EventPair;
  readonly onGoTo: (event: number) => void;
}

function Pair({ pair, onGoTo }: PairProps) {
  switch (pair.kind) {
    case 'event':
      return (
        <button
          type="button"
          className="link event-pair"
          // The table handles keys: L does the same for the focused row.
          tabIndex={-1}
          title={`${pair.action} at event ${formatCount(pair.event)} (L)`}
          onClick={(click) => {
            click.stopPropagation();
            onGoTo(pair.event);
          }}
        >
          <CornerDownRight size={12} aria-hidden />
          {formatCount(pair.event)}
        </button>
      );
    case 'before-trace':
      return <span className="dim">before</span>;
    case 'after-trace':
      return <span className="dim">never</span>;
    case 'unknown':
      return (
        <span className="dim" title="Allocated before the first event of this trace">
          unknown
        </span>
      );
    case 'none':
      return undefined;
  }
}
