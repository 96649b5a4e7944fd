import '../../views/flame-graph/flame.css';
import { useCallback, useMemo, useRef, useState } from 'react';
import { signedBytes } from '../../../analysis/compare/change-text.ts';
import { CHANGE_KINDS } from '../../../analysis/compare/types.ts';
import { formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import { classLabel } from '../../../device/classes/types.ts';
import type { FlameView } from '../../../state/view-store.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { Select } from '../../shared/buttons.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { rowsAtHand } from '../../table/row-pages.ts';
import { type Column, columnsIn } from '../../table/table-row.tsx';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { FlameCanvas } from '../../views/flame-graph/flame-canvas.tsx';
import { GROUPING_TEXT, weightFormat } from '../../views/flame-graph/flame-labels.ts';
import { type FlameBox, FlameLayout } from '../../views/flame-graph/flame-layout.ts';
import { FlameTrail } from '../../views/flame-graph/flame-toolbar.tsx';
import { TransformList, useFlameMenu } from '../../views/flame-graph/flame-transforms.tsx';
import { type ComparisonView, GROUPINGS, type SortKey } from './comparison-view.ts';
import type { ComparedPair } from './sides.tsx';
import { KIND_LABELS, type SiteRow, shownRows } from './site-rows.ts';

interface DifferenceTableProps {
  readonly rows: readonly SiteRow[];
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>) => void;
}

/** All call sites that differ. Their differences add up to the whole difference, to the byte. */
export function DifferenceTable({ rows, view, onChange }: DifferenceTableProps) {
  const { kind, class: className, text, sort, row: chosen } = view;
  const shown = useMemo(
    () => shownRows(rows, { kind, class: className, text, sort }),
    [rows, kind, className, text, sort],
  );
  const source = useMemo(() => rowsAtHand(shown), [shown]);
  const most = useMemo(
    () => Math.max(1, ...rows.map((row) => Math.abs(row.differenceBytes))),
    [rows],
  );
  const hasRuns = rows.some(({ run }) => run !== '');
  const columns = useMemo(() => siteColumns(most, hasRuns), [most, hasRuns]);
  const rowState = useCallback((row: SiteRow) => ({ isSelected: row.name === chosen }), [chosen]);
  return (
    <section className="view" aria-label="Differences by call site">
      <FilterBar rows={rows} shown={shown} view={view} onChange={onChange} />
      <div className="fill">
        <VirtualTable
          label="Differences"
          columns={columns}
          source={source}
          sort={{ key: sort.key === 'size' ? 'difference' : sort.key, descending: sort.descending }}
          onSort={(column) => onChange({ sort: nextSort(column as SortKey, sort) })}
          rowState={rowState}
          onActivate={(row) => onChange({ row: row.name === chosen ? undefined : row.name })}
          empty={<p>{rows.length > 0 ? FILTERED : SAME}</p>}
        />
      </div>
    </section>
  );
}

const FILTERED = 'No call site passes these filters.';
const SAME = 'No call site differs: both hold the same, from the same lines.';

/** Cycles: by the size of the change, then largest growth first, then largest shrinking first. */
function nextSort(key: SortKey, before: ComparisonView['sort']): ComparisonView['sort'] {
  if (key === 'difference' && before.key === 'size') return { key, descending: true };
  if (key === 'difference' && before.key === 'difference' && !before.descending) {
    return { key: 'size', descending: true };
  }
  const isText = key === 'place' || key === 'class' || key === 'kind';
  return { key, descending: before.key === key ? !before.descending : !isText };
}

function FilterBar(props: DifferenceTableProps & { readonly shown: readonly SiteRow[] }) {
  const { rows, shown, view, onChange } = props;
  const classes = [...new Set(rows.map((row) => row.class))].sort();
  const bytes = shown.reduce((sum, row) => sum + row.differenceBytes, 0);
  return (
    <div className="row bar">
      <Select
        aria-label="Kind of change"
        value={view.kind ?? ''}
        options={[
          { value: '', label: 'all changes' },
          ...CHANGE_KINDS.map((value) => ({ value, ...KIND_LABELS[value] })),
        ]}
        onChoose={(kind) => onChange({ kind: kind || undefined })}
      />
      <Select
        aria-label="Class"
        value={view.class ?? ''}
        options={[
          { value: '', label: 'all classes' },
          ...classes.map((value) => ({ value, label: classLabel(value) })),
        ]}
        onChoose={(name) => onChange({ class: name || undefined })}
      />
      <input
        className="field compare-text"
        type="search"
        aria-label="Filter by file or function"
        placeholder="file or function"
        value={view.text}
        onChange={({ currentTarget }) => onChange({ text: currentTarget.value })}
      />
      <span className="dim" role="status">
        {plural(shown.length, 'call site')}, together{' '}
        <span title={formatExactBytes(bytes)}>{signedBytes(bytes)}</span>
      </span>
    </div>
  );
}

const WORDS = {
  place: ['Code', 'The line to look at first; where it moved, in A and in B'],
  class: ['Class', 'What the memory is: parameters, activations, …'],
  kind: ['Change', 'How its live allocations differ'],
  count: ['Live', 'Live allocations in A and in B'],
  a: ['A', 'Bytes in A, without rounding'],
  b: ['B', 'Bytes in B, without rounding'],
  difference: ['Difference', 'Bytes in B less those in A'],
  run: ['Over the run', 'Lives longer or is made more often in B'],
} as const;

function siteColumns(most: number, hasRuns: boolean): readonly Column<SiteRow>[] {
  const { text, figure, bytes } = columnsIn<SiteRow, keyof typeof WORDS>(WORDS);
  const columns = [
    text(
      'place',
      250,
      ({ place, about, b, a }) => (
        <span title={(b ?? a)?.frame?.filename}>
          {place} <span className="dim">{about}</span>
        </span>
      ),
      { grow: 1 },
    ),
    text('class', 118, (row) => classLabel(row.class)),
    text('kind', 88, ({ kind }) => (
      <span title={KIND_LABELS[kind].about}>{KIND_LABELS[kind].label}</span>
    )),
    figure('count', 96, ({ countA, countB }) => `${formatCount(countA)} → ${formatCount(countB)}`),
    bytes('a', 96, ({ bytesA }) => bytesA),
    bytes('b', 96, ({ bytesB }) => bytesB),
    figure('difference', 150, ({ differenceBytes }) => (
      <span className="inline-row compare-difference" title={formatExactBytes(differenceBytes)}>
        <span
          className="compare-bar"
          data-grew={differenceBytes > 0}
          style={{ width: `${(44 * Math.abs(differenceBytes)) / most}px` }}
          aria-hidden
        />
        {signedBytes(differenceBytes)}
      </span>
    )),
    ...(hasRuns ? [text('run', 130, ({ run }) => <span className="dim">{run}</span>)] : []),
  ];
  return columns.map((column) => ({ ...column, isSortable: column.id !== 'run' }));
}

const FIGURES = {
  format: weightFormat('allocated', true, true),
  isDifference: true,
  hasSearch: false,
};

interface DifferenceFlameProps extends Pick<ComparedPair, 'pair'> {
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>) => void;
}

/** What grew and what shrank, by call stack. The width of a box is the size of its change. */
export function DifferenceFlameView({ pair, view, onChange }: DifferenceFlameProps) {
  const area = useRef<HTMLElement>(null);
  const width = useElementWidth(area);
  const { groupBy, root, transforms } = view;
  const shape = { pair, groupBy, root, transforms, smallestShare: 1 / width };
  const request = width === 0 ? undefined : shape;
  const { value: graph } = useQuery('differenceFlame', request, { cancelsStale: true });
  const layout = useMemo(() => graph && new FlameLayout(graph), [graph]);
  const [selected, setSelected] = useState<FlameBox>();
  const totalMagnitude = graph?.total.magnitude ?? 0;
  const figures = useMemo(() => ({ ...FIGURES, totalMagnitude }), [totalMagnitude]);
  const change = (changed: Partial<ComparisonView>) => {
    setSelected(undefined);
    onChange(changed);
  };
  const zoom = (path: string | undefined) => change({ root: path });
  const flame = { groupBy, transforms, inverted: false, sandwich: undefined };
  const transform = (to: Partial<FlameView>) =>
    change({ transforms: to.transforms ?? transforms, root: undefined });
  const menu = useFlameMenu(flame, transform, false);
  return (
    <section ref={area} className="view compare-flame" aria-label="Difference flame graph">
      <div className="row bar">
        <label className="inline-row labeled">
          Boxes
          <Select
            value={groupBy}
            options={GROUPINGS.map((value) => ({ value, label: GROUPING_TEXT[value] }))}
            onChoose={(chosen) => change({ groupBy: chosen, root: undefined })}
          />
        </label>
        {graph !== undefined && (
          <span className="dim" title={formatExactBytes(graph.total.value)}>
            {signedBytes(graph.total.value)} without rounding. Wide is what changed; the color says
            which way.
          </span>
        )}
      </div>
      {graph !== undefined && (
        <>
          <TransformList flame={flame} steps={graph.steps} onChange={transform} />
          <FlameTrail trail={graph.trail} onZoom={zoom} />
        </>
      )}
      {layout !== undefined && totalMagnitude > 0 && (
        <FlameCanvas
          layout={layout}
          figures={figures}
          selected={selected}
          onSelect={setSelected}
          onZoom={zoom}
          onMenu={(box, place) =>
            box.data.group && menu.open({ group: box.data.group, path: layout.pathOf(box) }, place)
          }
        />
      )}
      {graph?.total.magnitude === 0 && <p className="note">Nothing differs.</p>}
      {menu.element}
    </section>
  );
}
