import { Filter, Layers, List, type LucideIcon, Rows3 } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { FlameRow } from '../../../device/flame-graph/flame-table.ts';
import type { FlameOrderBy } from '../../../device/flame-graph/types.ts';
import { frameLabel, framePath, functionText } from '../../../device/model/frame-text.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { useStores } from '../../../state/stores.ts';
import type { Sort, ViewState } from '../../../state/view-store.ts';
import { Button, CopyButton } from '../../shared/buttons.tsx';
import { FrameCell } from '../../shared/code-place.tsx';
import type { MenuPlace } from '../../shared/menu.tsx';
import { useDevice } from '../../shared/services.ts';
import { StackList } from '../../shared/stack-list.tsx';
import { useAsk, useQuery } from '../../shared/use-query.ts';
import type { RowSource } from '../../table/row-pages.ts';
import { type Column, columnsIn, nextSort } from '../../table/table-row.tsx';
import { VirtualTable } from '../../table/virtual-table.tsx';
import {
  countText,
  type FlameFigures,
  GROUPING_TEXT,
  groupName,
  groupPlace,
  shareText,
} from './flame-labels.ts';
import type { MenuSubject } from './flame-transforms.tsx';
import type { FlameQuery, FlameSelection } from './use-flame.ts';

interface FlameTableProps {
  readonly query: FlameQuery;
  readonly rowCount: number;
  readonly figures: FlameFigures;
  readonly chosenKey: string | undefined;
  readonly onChoose: (row: FlameRow) => void;
  readonly onMenu: (subject: MenuSubject, place: MenuPlace) => void;
}

const LARGEST_FIRST: Sort = { key: 'total', descending: true };

export function FlameTable(props: FlameTableProps) {
  const { query, rowCount, figures, chosenKey, onChoose, onMenu } = props;
  const [sort, setSort] = useState(LARGEST_FIRST);
  const source = useRows(query, rowCount, sort);
  const columns = useMemo(() => columnsOf(query.groupBy, figures), [query.groupBy, figures]);
  return (
    <VirtualTable
      label={`By ${GROUPING_TEXT[query.groupBy]}`}
      columns={columns}
      source={source}
      empty="Nothing to list."
      sort={sort}
      // Names start ascending, figures with the largest.
      onSort={(column) => setSort(nextSort(sort, column, column !== 'name') ?? LARGEST_FIRST)}
      rowState={(row) => ({ isSelected: row.key === chosenKey })}
      onActivate={onChoose}
      onMenu={(row, event) => {
        if (row.group.kind !== 'frame') return;
        event.preventDefault();
        onChoose(row);
        onMenu({ group: row.group, path: undefined }, { x: event.clientX, y: event.clientY });
      }}
    />
  );
}

const ORDERS: readonly FlameOrderBy[] = ['name', 'self', 'total', 'count'];

function useRows(query: FlameQuery, rowCount: number, sort: Sort): RowSource<FlameRow> {
  const { info } = useDevice();
  const ask = useAsk();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot has other rows
  return useMemo(() => {
    const by = ORDERS.find((order) => order === sort.key) ?? 'total';
    const order = { by, descending: sort.descending };
    return {
      count: rowCount,
      load: async (from, to, signal) => {
        const { rows } = await ask('flameRows', { ...query, order, from, to }, { signal });
        return rows;
      },
    };
  }, [ask, info, query, rowCount, sort]);
}

function columnsOf(
  by: FlameQuery['groupBy'],
  { format, isDifference, totalMagnitude }: FlameFigures,
): readonly Column<FlameRow>[] {
  const { text, figure } = columnsIn<FlameRow, FlameOrderBy | 'share'>({
    name: [GROUPING_TEXT[by].replace(/^./, (letter) => letter.toUpperCase())],
    total: [
      isDifference ? 'Difference' : 'Total',
      by === 'holder'
        ? 'What the variable holds, and whatever is reached through it'
        : 'Allocations with this frame in their stack; recursion counts once',
    ],
    share: [
      'Share',
      isDifference ? 'Share of the total change: growth plus shrinkage' : 'Share of the total',
    ],
    self: [
      'Self',
      `Allocations whose ${by === 'holder' ? 'whole name' : 'innermost frame'} this is`,
    ],
    count: ['Allocations'],
  });
  const weight = (id: 'total' | 'self') =>
    figure(id, 104, ({ [id]: value }) => (
      <span title={format.exact(value)} data-change={isDifference ? changeOf(value) : undefined}>
        {format.short(value)}
      </span>
    ));
  const columns = [
    text('name', 200, (row) => <RowName row={row} />, { grow: 1 }),
    weight('total'),
    figure('share', 76, ({ total }) => shareText(total, totalMagnitude)),
    // A stack has nothing inside it: its total is its own.
    ...(by === 'stack' ? [] : [weight('self')]),
    figure('count', 92, (row) => {
      const words = countText(row.count, isDifference);
      return <span title={words}>{words.split(' ')[0]}</span>;
    }),
  ];
  return columns.map((column) => ({ ...column, isSortable: column.id !== 'share' }));
}

const changeOf = (value: number) => (value > 0 ? 'grew' : value < 0 ? 'shrank' : undefined);

/** By stack: the user's line, and the innermost call. */
function RowName({ row: { group, userFrame } }: { readonly row: FlameRow }) {
  const inner = group.kind === 'frame' ? group.frame : undefined;
  const frame = userFrame ?? inner;
  const isSame = inner?.name === userFrame?.name && inner?.filename === userFrame?.filename;
  const hasLeaf = userFrame !== undefined && !isSame;
  const [label, place] = [groupName(group), groupPlace(group)];
  const title = [
    ...(userFrame === undefined ? [] : [frameLabel(userFrame)]),
    ...(userFrame === undefined || hasLeaf ? [`${label} ${place}`.trim()] : []),
  ].join(' · ');
  // Rows without a frame or a name are as faint as plumbing.
  const isFaint = group.kind === 'holder' ? false : frame === undefined || frame.isPlumbing;
  const kind = isFaint ? 'plumbing' : (frame?.kind ?? 'user');
  return (
    <span className="flame-row-name" data-kind={kind} title={title}>
      <FrameCell
        name={userFrame === undefined ? label : functionText(userFrame)}
        path={userFrame === undefined ? place : framePath(userFrame)}
        title={title}
        leaf={hasLeaf ? label : undefined}
        leafPlace={hasLeaf && place !== '' ? place : undefined}
      />
    </span>
  );
}

interface FrameStripProps {
  readonly selection: FlameSelection | undefined;
  readonly figures: FlameFigures;
  readonly onMenu: (subject: MenuSubject, place: MenuPlace) => void;
}

/** The chosen box or row: its figures, its stack, and links to its allocations and events. */
export function FrameStrip({ selection, figures, onMenu }: FrameStripProps) {
  if (selection === undefined) {
    return (
      <section className="row bar frame-strip" aria-label="Chosen frame">
        <p className="dim">Click a box or a row to see its memory, stack and allocations here.</p>
      </section>
    );
  }
  const { label, place, fullPlace, value, magnitude, count, self } = selection;
  const { format, isDifference, totalMagnitude } = figures;
  return (
    <section className="row bar frame-strip" aria-label="Chosen frame">
      <div className="row frame-strip-head" aria-live="polite">
        <strong className="one-line frame-strip-name" title={label}>
          {label}
        </strong>
        {place !== '' && (
          <CopyButton text={fullPlace} label={fullPlace} className="dim frame-place">
            <span>{place}</span>
          </CopyButton>
        )}
        <span className="frame-strip-figures">
          <span title={format.exact(value)}>{format.short(value)}</span>
          <span className="dim">{shareText(magnitude, totalMagnitude)}</span>
          <span className="dim">{countText(count, isDifference)}</span>
          {self !== undefined && !isDifference && (
            <span className="dim" title="What no box below it has">
              itself {format.short(self)}
            </span>
          )}
        </span>
      </div>
      <FrameActions selection={selection} onMenu={onMenu} />
      <SelectedStack selection={selection} />
    </section>
  );
}

function FrameActions({
  selection,
  onMenu,
}: Pick<FrameStripProps, 'onMenu'> & { readonly selection: FlameSelection }) {
  const { search: term, group, path } = selection;
  const { view } = useStores();
  const button = (icon: LucideIcon, text: string, does: string, change: Partial<ViewState>) => (
    <Button
      icon={icon}
      disabled={term === undefined}
      title={term === undefined ? 'There is no search for these allocations' : `${does}: ${term}`}
      onClick={() => {
        const { search } = view.getState().view;
        view.commit({ search: addTerm(search, term ?? ''), ...change });
      }}
    >
      {text}
    </Button>
  );
  return (
    <div className="inline-row frame-actions">
      <Button
        icon={Layers}
        disabled={group.kind !== 'frame'}
        aria-haspopup="menu"
        title="Focus, merge, collapse, drop; callers and callees"
        onClick={({ currentTarget }) => {
          const { left, bottom } = currentTarget.getBoundingClientRect();
          onMenu({ group, path }, { x: left, y: bottom + 4 });
        }}
      >
        Transform
      </Button>
      {button(Filter, 'Filter to this', 'In all views', { onlyMatches: true })}
      {button(Rows3, 'Allocations', 'List its allocations', { view: 'allocations' })}
      {button(List, 'Events', 'List its events', { view: 'events' })}
    </div>
  );
}

/** Folded at first: the graph above shows the same. */
function SelectedStack({ selection: { frames, stack } }: { readonly selection: FlameSelection }) {
  const asked = useQuery('flameStack', stack < 0 ? undefined : { stack });
  const found = asked.isCurrent ? asked.value : undefined;
  const shown = frames === undefined ? found : { kind: 'recorded' as const, frames };
  if (shown === undefined || shown.frames.length < 2) return undefined;
  return (
    <details className="frame-stack">
      <summary>Stack, innermost first ({shown.frames.length})</summary>
      <StackList stack={shown} />
    </details>
  );
}
