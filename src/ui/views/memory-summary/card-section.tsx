import { useMemo } from 'react';
import { formatCount, formatDurationUs, plural, sentenceCase } from '../../../base/format.ts';
import {
  bytesOf,
  type CardHistory,
  type CardSample,
  KINDS,
  kindLabel,
  momentText,
} from '../../../device/model/card.ts';
import { useStores } from '../../../state/stores.ts';
import { Bytes } from '../../shared/facts.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { rowsAtHand } from '../../table/row-pages.ts';
import type { Column } from '../../table/table-row.tsx';
import { HEADER_HEIGHT_PX, ROW_HEIGHT_PX } from '../../table/table-scroll.ts';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { Section } from './section.tsx';

/** Rows shown without scrolling inside the table. */
const ROWS_AT_ONCE = 12;

/** Every sample of the whole card. Nothing without a ledger. */
export function CardSection() {
  const history = useQuery('card', {}).value;
  if (history === undefined) return undefined;
  const { samples, missing } = history;
  const totalBytes = samples.at(-1)?.totalBytes ?? 0;
  const head = (
    <span className="dim">
      <Bytes bytes={totalBytes} />, {plural(samples.length, 'sample')} by vramscope.record(). Click
      one to see it in the timeline.
    </span>
  );
  return (
    <Section title="The whole card" head={head}>
      <CardTable history={history} />
      {Object.entries(missing).map(([what, why]) => (
        <p key={what} className="dim">
          Not sampled: {what}. {sentenceCase(why)}.
        </p>
      ))}
    </Section>
  );
}

function CardTable({ history: { samples } }: { readonly history: CardHistory }) {
  const { view } = useStores();
  const source = useMemo(() => rowsAtHand(samples), [samples]);
  const columns = useMemo(() => columnsOf(samples), [samples]);
  const height = HEADER_HEIGHT_PX + 2 + Math.min(samples.length, ROWS_AT_ONCE) * ROW_HEIGHT_PX;
  const show = ({ event }: CardSample) =>
    view.commit({ view: 'timeline', cursor: Math.max(0, event) });
  return (
    <div style={{ height }}>
      <VirtualTable
        label="Samples of the card"
        columns={columns}
        source={source}
        onActivate={show}
      />
    </div>
  );
}

type CardColumn = Column<CardSample>;

const SHORT: Partial<Record<CardSample['rows'][number]['kind'], string>> = {
  allocated: 'Allocated',
  cached: 'Cached',
  pool: 'Private pools',
  'process-rest': 'Process rest',
  others: 'Others',
  outside: 'Not told apart',
  unexplained: 'Not explained',
  'behind-allocator': 'Freed behind',
  free: 'Free',
};

/** One column for each kind of row that any sample has; groups and pools together. */
function columnsOf(samples: readonly CardSample[]): readonly CardColumn[] {
  const rows = samples.flatMap((sample) => sample.rows);
  const kinds = KINDS.filter((kind) => rows.some((row) => row.kind === kind));
  const figure = (
    id: string,
    header: string,
    render: CardColumn['render'],
    title = header,
  ): CardColumn => ({ id, header, render, title, widthPx: 92, align: 'end' });
  return [
    { id: 'moment', header: 'Moment', widthPx: 140, grow: 1, render: momentText },
    figure('event', 'After event', ({ event }) => (event < 0 ? 'before' : formatCount(event))),
    figure('time', 'Time', ({ timeUs }) => formatDurationUs(timeUs)),
    ...kinds.map((kind) =>
      figure(
        kind,
        SHORT[kind] ?? kindLabel(kind, rows),
        (sample) => {
          const own = sample.rows.filter((row) => row.kind === kind);
          return own.length === 0 ? '' : <Bytes bytes={bytesOf(own, kind)} />;
        },
        sentenceCase(kindLabel(kind, rows)),
      ),
    ),
  ];
}
