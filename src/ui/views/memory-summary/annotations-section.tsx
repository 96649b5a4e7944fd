import { useMemo } from 'react';
import type { Peak } from '../../../allocator/replay/types.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
  plural,
} from '../../../base/format.ts';
import type { AnnotationGroup } from '../../../device/model/annotation-groups.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { timesText } from '../../../output/report/summary-text.ts';
import { useStores } from '../../../state/stores.ts';
import type { Range } from '../../../state/view-store.ts';
import type { AnnotationGroups } from '../../../worker/protocol.ts';
import { useDevice } from '../../shared/services.ts';
import type { QueryState } from '../../shared/use-query.ts';
import { rowsAtHand } from '../../table/row-pages.ts';
import { type Column, columnsIn } from '../../table/table-row.tsx';
import { HEADER_HEIGHT_PX, ROW_HEIGHT_PX } from '../../table/table-scroll.ts';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { Section, Unanswered } from './section.tsx';

interface AnnotationsSectionProps {
  readonly query: QueryState<unknown, AnnotationGroups>;
}

/** Rows shown without scrolling inside the table. */
const ROWS_AT_ONCE = 12;

/** Where in the program memory was highest: annotations by name. */
export function AnnotationsSection({ query: { value, failure } }: AnnotationsSectionProps) {
  const { device } = useDevice();
  const isEmpty = value?.groups.length === 0;
  const head = value !== undefined && !isEmpty && (
    <span className="dim">
      {formatCount(value.groups.length)}, sorted by peak. Click one to see where memory was highest
      in it.
    </span>
  );
  return (
    <Section title="Annotations" head={head}>
      {value === undefined && <Unanswered failure={failure} />}
      {isEmpty && <p className="dim">{noAnnotationsText(device)}</p>}
      {value !== undefined && !isEmpty && <AnnotationTable {...value} />}
      {value !== undefined && value.moments > 0 && (
        <p className="dim">
          {value.moments === 1
            ? '1 more is not listed: it lacks its START or END, so only one moment of it is known.'
            : `${formatCount(value.moments)} more are not listed: they lack their START or END, so only one moment of each is known.`}
        </p>
      )}
    </Section>
  );
}

function noAnnotationsText({ hasTime }: DeviceInfo): string {
  if (!hasTime) return 'This file has no timestamps, so events cannot be matched to annotations.';
  return 'No annotations were recorded. Wrap parts of a step in torch.profiler.record_function("forward") to see here which of them peaks.';
}

function AnnotationTable({ groups }: AnnotationGroups) {
  const { view } = useStores();
  const source = useMemo(() => rowsAtHand(groups), [groups]);
  const height = HEADER_HEIGHT_PX + 2 + Math.min(groups.length, ROWS_AT_ONCE) * ROW_HEIGHT_PX;
  const show = (group: AnnotationGroup) => {
    if (group.count > 0)
      view.commit({ view: 'timeline', ...placeOf(group, view.getState().view.axis) });
  };
  return (
    <div style={{ height }}>
      <VirtualTable label="Annotations" columns={COLUMNS} source={source} onActivate={show} />
    </div>
  );
}

/** The range with the highest memory, and its highest moment, which may be the one before its first event. */
export function placeOf(
  { highest, peaks }: Pick<AnnotationGroup, 'highest' | 'peaks'>,
  axis: TimeAxis,
) {
  const { startEvent, endEvent } = highest;
  const last = Math.max(startEvent, endEvent - 1);
  // The cursor stays in the range that is shown.
  const cursor = Math.max(0, startEvent, Math.min(peaks.allocatedBytes.event, last));
  return { cursor, x: rangeOf(highest, axis) };
}

function rangeOf(span: AnnotationGroup['highest'], axis: TimeAxis): Range | 'all' {
  const [from, to] =
    axis === 'event' ? [span.startEvent, span.endEvent] : [span.startUs, span.endUs];
  return from < to ? { from, to } : 'all';
}

const WORDS = {
  name: ['Annotation'],
  count: ['Times', 'How many times it ran in the recording, and before it'],
  allocated: ['Peak allocated', 'Highest allocated memory inside it'],
  active: ['Peak active', 'Highest active memory inside it'],
  reserved: ['Peak reserved', 'Highest reserved memory inside it'],
  growth: ['Net growth', 'Allocated memory after minus before, on average'],
  time: ['Mean time'],
} as const;

const { text, figure } = columnsIn<AnnotationGroup, keyof typeof WORDS>(WORDS);

const COLUMNS: readonly Column<AnnotationGroup>[] = [
  text(
    'name',
    120,
    ({ name, names }) => (
      <span title={names > 1 ? `${formatCount(names)} names of this pattern` : name}>{name}</span>
    ),
    { grow: 1 },
  ),
  figure('count', 120, ({ count, before, unclosed }) => (
    <span title={timesTitle({ count, before, unclosed })}>
      {formatCount(count)}
      {before > 0 && ` + ${formatCount(before)} before`}
      {unclosed > 0 && ` (${formatCount(unclosed)} open)`}
    </span>
  )),
  figure('allocated', 102, ({ peaks }) => <PeakText {...peaks.allocatedBytes} />),
  figure('active', 102, ({ peaks }) => <PeakText {...peaks.activeBytes} />),
  figure('reserved', 102, ({ peaks }) => <PeakText {...peaks.reservedBytes} />),
  figure('growth', 104, ({ count, unclosed, grownBytes }) => {
    const times = count - unclosed;
    if (times === 0) return <span className="dim">unknown</span>;
    const mean = grownBytes / times;
    return (
      <span title={`${formatExactBytes(grownBytes)} over all ${formatCount(times)}`}>
        {mean > 0 ? '+' : ''}
        {formatBytes(Math.round(mean))}
      </span>
    );
  }),
  figure('time', 84, ({ totalUs, count, unclosed }) => {
    if (count === unclosed) return <span className="dim">unknown</span>;
    return formatDurationUs(totalUs / (count - unclosed));
  }),
];

function timesTitle(group: Pick<AnnotationGroup, 'count' | 'before' | 'unclosed'>) {
  const { before, unclosed } = group;
  const open = unclosed > 0 ? [`${plural(unclosed, 'lacks', 'lack')} START or END`] : [];
  const text = [...(before > 0 ? [timesText(group)] : []), ...open].join('; ');
  return text === '' ? undefined : text;
}

function PeakText({ bytes, event }: Peak) {
  if (bytes < 0) return <span className="dim">before the recording</span>;
  const place = event < 0 ? 'before the first event' : `after event ${formatCount(event)}`;
  return <span title={`${formatExactBytes(bytes)} ${place}`}>{formatBytes(bytes)}</span>;
}
