import './allocations.css';
import { useMemo, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import { toggleTerm } from '../../../device/search/parse-search.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { emptyReasons } from '../../panels/search/search-panel.tsx';
import { Button, CopyButton, Segmented } from '../../shared/buttons.tsx';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk, useQuery } from '../../shared/use-query.ts';
import { VirtualTable } from '../../table/virtual-table.tsx';
import {
  ALLOCATIONS,
  LARGEST_FIRST,
  type List,
  orderOf,
  SITES,
  SITES_AT_PEAK,
  sortedBy,
} from './lists.ts';

export function View() {
  const { of } = orderOf(useView(({ sort }) => sort));
  return (
    <section className="view" aria-label="Allocations">
      {of === 'allocations' ? (
        <ListTable key={of} list={ALLOCATIONS} />
      ) : (
        <ListTable key={of} list={SITES} />
      )}
    </section>
  );
}

const ROWS = [
  { value: 'allocations', label: 'All', about: 'One row per allocation' },
  { value: 'sites', label: 'By call site', about: 'One row per call stack' },
] as const;

const MOST_COPIED = 10_000;

function ListTable<R extends { readonly label: string }>({ list }: { readonly list: List<R> }) {
  const { device } = useDevice();
  const { view } = useStores();
  const ask = useAsk();
  const selected = useSelectedIndex();
  const { sort = LARGEST_FIRST, search, cursor: at, axis } = useView((state) => state);
  const known = useQuery('searchValues', {}).value;
  const columns = useMemo(() => list.columns(device, axis, known), [list, device, axis, known]);
  const order = orderOf(sort);
  const clock = axis === 'time' && device.hasTime ? 'us' : 'events';
  // The previous list stays until the next one is sorted.
  const listed = useQuery('listCount', { search, at, clock, ...order });
  const { value: count, request } = listed;
  const wanted = request && selected >= 0 ? { ...request, allocation: selected } : undefined;
  const found = useQuery('listPlace', wanted);
  /** The row of the selected allocation, or of its site; -1 if it is not in the list. */
  const place = found.isCurrent && wanted !== undefined ? (found.value ?? -1) : -1;
  const source = useMemo(() => {
    if (request === undefined || count === undefined) return undefined;
    return {
      count,
      start: 0,
      load: (from: number, to: number, signal: AbortSignal) =>
        ask('listRows', { ...request, from, to }, { signal }) as Promise<unknown> as Promise<R[]>,
    };
  }, [ask, request, count]);
  const [note, setNote] = useState('');
  const textOf = async (from: number, to: number) =>
    request === undefined ? '' : ask('listTsv', { ...request, from, to });
  const select = (row: R) => view.click('allocation', { selection: row.label });
  /** Space selects, F searches for the call site, C copies. */
  function onRowKey(pressed: string, row: R, index: number): boolean {
    if (pressed === ' ') select(row);
    else if (pressed === 'f')
      view.commit({ search: toggleTerm(search, searchTerm('site', row.label)) });
    else if (pressed === 'c') {
      textOf(index, index + 1)
        .then((text) => navigator.clipboard.writeText(text))
        .then(
          () => setNote('Row copied'),
          () => setNote('Could not copy the row'),
        );
    } else return false;
    return true;
  }
  return (
    <>
      <div className="row bar list-bar">
        <Segmented
          label="Rows"
          value={order.of}
          options={ROWS}
          onChange={(next) =>
            view.commit({ sort: next === 'allocations' ? LARGEST_FIRST : SITES_AT_PEAK })
          }
        />
        <ListCount {...listed} label={list.label} />
        <span className="dim" role="status">
          {note}
        </span>
        <span className="dim one-line list-hint small" title={list.hint}>
          {list.hint}
        </span>
        {count !== undefined && count > 0 && (
          <CopyRows count={count} label={list.label} text={textOf} />
        )}
      </div>
      <div className="fill">
        {source !== undefined && (
          <VirtualTable
            label={list.label}
            columns={columns}
            source={source}
            sort={sort}
            onSort={(column) => view.commit({ sort: sortedBy(columns, column, sort) })}
            rowState={(_, index) => ({ isSelected: index === place })}
            onActivate={select}
            onOpen={(row) => list.open(row, view, device)}
            onRowKey={onRowKey}
            shown={selected < 0 ? undefined : { of: selected, row: place }}
            empty={<NoRows />}
          />
        )}
      </div>
    </>
  );
}

interface ListCountProps {
  readonly value: number | undefined;
  readonly isCurrent: boolean;
  readonly failure: string | undefined;
  readonly label: string;
}

/** '1,234 of 5,678 allocations'; without a search, the total of call sites is unknown. */
function ListCount({ value: count, isCurrent, failure, label }: ListCountProps) {
  const { allocations } = useDevice().device;
  if (failure !== undefined) return <span role="alert">These could not be listed: {failure}</span>;
  if (count === undefined) return <span className="dim">Sorting…</span>;
  const isPart = label === ALLOCATIONS.label && count < allocations;
  return (
    <span role="status" aria-busy={!isCurrent}>
      {formatCount(count)} {isPart && `of ${formatCount(allocations)} `}
      {count === 1 && !isPart ? label.toLowerCase().replace(/s$/, '') : label.toLowerCase()}
    </span>
  );
}

interface CopyRowsProps {
  readonly count: number;
  readonly label: string;
  readonly text: (from: number, to: number) => Promise<string>;
}

function CopyRows({ count, label, text }: CopyRowsProps) {
  const most = Math.min(count, MOST_COPIED);
  const which = most < count ? `the first ${formatCount(most)} of ${formatCount(count)}` : 'all';
  const what = `${which} ${label.toLowerCase()} in this order, separated by tabs`;
  return (
    <CopyButton
      className="button"
      label={what}
      title={`Copy ${what}; C copies the row at the keyboard`}
      text={() => text(0, most)}
    >
      {most < count ? `Copy first ${formatCount(most)}` : 'Copy rows'}
    </CopyButton>
  );
}

function NoRows() {
  const { device } = useDevice();
  const { view } = useStores();
  const { search, cursor: at } = useView((state) => state);
  const { value } = useQuery('searchSummary', { search, at });
  if (device.allocations === 0) {
    return (
      <p>
        Nothing was allocated on this device during the recording, and nothing was live when the
        snapshot was taken.
      </p>
    );
  }
  return (
    <>
      {value !== undefined && emptyReasons(value).map((reason) => <p key={reason}>{reason}</p>)}
      <p>
        <Button onClick={() => view.commit({ search: '' })}>Clear the search</Button>
      </p>
    </>
  );
}
