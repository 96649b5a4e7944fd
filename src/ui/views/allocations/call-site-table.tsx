import { type ReactNode, useCallback, useMemo } from 'react';
import { formatCount } from '../../../base/format.ts';
import type { CallSiteRow } from '../../../device/lists/allocation-rows.ts';
import type { DeviceInfo } from '../../../device/model/types.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { siteTerm } from '../../../device/search/qualifiers/stacks.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { SiteCell } from '../../shared/code-place.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import type { Column } from '../../table/table-row.tsx';
import { momentWidthPx, startText } from './allocation-table.tsx';
import { LARGEST_FIRST, type ListOrder, SITE_LIST } from './list.ts';
import { ListTable } from './list-table.tsx';

interface SiteTableProps {
  readonly order: Extract<ListOrder, { of: 'sites' }>;
  readonly switcher: ReactNode;
}

const HINT =
  'Space selects the largest, Enter or a double click lists all of a call site, F searches for it, C copies';

/** A row for each call stack. */
export function SiteTable(props: SiteTableProps) {
  const { device } = useDevice();
  const { view } = useStores();
  const axis = useView((state) => state.axis);
  const hasHolders = (useQuery('searchValues', {}).value?.holder?.length ?? 0) > 0;
  const columns = useMemo(() => siteColumns(device, axis, hasHolders), [device, axis, hasHolders]);
  const listAll = useCallback(
    ({ label }: CallSiteRow) => {
      const { search } = view.getState().view;
      view.commit({ search: addTerm(search, siteTerm(label)), sort: LARGEST_FIRST });
    },
    [view],
  );
  return (
    <ListTable {...props} queries={SITE_LIST} hint={HINT} columns={columns} onOpen={listAll} />
  );
}

/** Without a trace the only known moment is the end. */
const NEEDS_TRACE: ReadonlySet<string> = new Set(['sitePeak', 'siteFirst', 'siteLast']);

/** The ids are keys of the sort order. */
function siteColumns(
  device: DeviceInfo,
  axis: TimeAxis,
  hasHolders: boolean,
): readonly Column<CallSiteRow>[] {
  const { hasTime, events } = device;
  const clock = axis === 'time' && hasTime ? 'time' : 'event';
  const columns: readonly Column<CallSiteRow>[] = [
    {
      id: 'siteLine',
      header: 'Code',
      title: 'The innermost line outside PyTorch and site-packages; one row per call stack',
      widthPx: 290,
      grow: 1,
      render: ({ line }) => <SiteCell {...line} />,
    },
    {
      id: 'sitePeak',
      header: 'At the peak',
      title: 'Bytes of its blocks at the peak of active memory',
      widthPx: 108,
      align: 'end',
      render: ({ peakBytes }) => <Bytes bytes={peakBytes} />,
    },
    {
      id: 'siteLive',
      header: 'At the end',
      title: 'Bytes of its blocks still live when the trace ends',
      widthPx: 100,
      align: 'end',
      render: ({ endBytes, endCount }) => (
        <span title={`${formatCount(endCount)} allocations`}>
          <Bytes bytes={endBytes} />
        </span>
      ),
    },
    {
      id: 'siteTotal',
      header: 'Total',
      title: 'Bytes of all its allocations added up, including freed ones',
      widthPx: 92,
      align: 'end',
      render: ({ totalBytes }) => <Bytes bytes={totalBytes} />,
    },
    {
      id: 'siteCount',
      header: 'Count',
      title: 'Allocations',
      widthPx: 76,
      align: 'end',
      render: ({ allocations, preexisting }) => (
        <span
          title={
            preexisting === 0
              ? undefined
              : `${formatCount(preexisting)} from before recording began`
          }
        >
          {formatCount(allocations)}
        </span>
      ),
    },
    {
      id: 'siteLargest',
      header: 'Largest',
      title: 'Size of its largest block',
      widthPx: 88,
      align: 'end',
      render: ({ largestBytes }) => <Bytes bytes={largestBytes} />,
    },
    {
      id: 'siteFirst',
      header: 'First',
      title: 'Start of its first allocation',
      widthPx: momentWidthPx(device, clock),
      align: 'end',
      render: ({ firstEvent, firstUs }) => startText(firstEvent, firstUs, clock),
    },
    {
      id: 'siteLast',
      header: 'Last',
      title: 'Start of its last allocation',
      widthPx: momentWidthPx(device, clock),
      align: 'end',
      render: ({ lastEvent, lastUs }) => startText(lastEvent, lastUs, clock),
    },
  ];
  return columns
    .filter(({ id }) => events > 0 || !NEEDS_TRACE.has(id))
    .map((column) => ({ ...column, isSortable: true }))
    .concat(hasHolders ? [HOLDER] : []);
}

const HOLDER = {
  id: 'siteHolder',
  header: 'Holder',
  title: 'What held its largest allocation, or else its last, when the snapshot was taken',
  widthPx: 180,
  isSortable: false,
  render: ({ holder }: CallSiteRow) => <span title={holder}>{holder}</span>,
};
