import './summary.css';
import { useState } from 'react';
import { formatCount, formatExactBytes, formatPercent } from '../../../base/format.ts';
import { type ClassTotal, classInfo, classTerm } from '../../../device/classes/types.ts';
import type { MemoryFigures } from '../../../device/memory-summary/memory-stats.ts';
import type { TraceFacts } from '../../../device/memory-summary/trace-facts.ts';
import type { AnnotationGroup } from '../../../device/model/annotation-groups.ts';
import { failedOoms } from '../../../device/model/device-info.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import {
  FIELD_TEXTS,
  figureText,
  PARTIAL_TEXT,
  POOL_TEXTS,
  STAT_TEXTS,
  summaryText,
} from '../../../output/report/summary-text.ts';
import { useView } from '../../../state/stores.ts';
import { CopyButton, type Option, Segmented } from '../../shared/buttons.tsx';
import { notesOf } from '../../shared/device-labels.ts';
import { Bytes, TableHead } from '../../shared/facts.tsx';
import { FilterLink } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { type QueryState, useQuery } from '../../shared/use-query.ts';
import { classColors } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { AnnotationsSection } from './annotations-section.tsx';
import { CardSection } from './card-section.tsx';
import { RecordingSection, SettingsSection } from './recording-section.tsx';
import { Section, SummaryTable, Unanswered } from './section.tsx';
import { ServingSection } from './serving-section.tsx';

/** The figures of memory_summary(), a comparison of the program's annotations, and the file's contents. */
export function View() {
  const annotations = useQuery('annotationGroups', {});
  const facts = useQuery('traceFacts', {});
  const moment = useMoment();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it may hold nothing focusable, and keys must scroll it
    <section className="summary-view" aria-label="Figures" tabIndex={0}>
      <ServingSection
        event={moment.event}
        head={
          <>
            {moment.control} <span className="dim">{moment.place}</span>
          </>
        }
      />
      <MemorySection
        moment={moment}
        annotationGroups={annotations.value?.groups}
        facts={facts.value}
      />
      <CardSection />
      <AnnotationsSection query={annotations} />
      <SettingsSection />
      <RecordingSection query={facts} />
    </section>
  );
}

interface MemorySectionProps {
  readonly moment: ReturnType<typeof useMoment>;
  readonly annotationGroups: readonly AnnotationGroup[] | undefined;
  readonly facts: TraceFacts | undefined;
}

interface Moment extends Option<'cursor' | 'oom' | 'peak' | 'end'> {
  readonly event: EventIndex | undefined;
}

function useMoments(): readonly Moment[] {
  const { device } = useDevice();
  const event = useView((view) => view.cursor);
  const end = device.events - 1;
  const oom = failedOoms(device).at(-1);
  const isDisabled = event === undefined;
  const about = isDisabled ? 'No cursor is set' : 'The event at the cursor';
  const AT_OOM = 'When memory ran out; the last time if it did so more than once';
  const AT_PEAK = 'When active memory was highest';
  const { peaks } = device;
  const moments: (Moment | false)[] = [
    { value: 'cursor', label: 'At the cursor', about, event, isDisabled },
    oom !== undefined && { value: 'oom', label: 'At the OOM', about: AT_OOM, event: oom.event },
    { value: 'peak', label: 'At the peak', about: AT_PEAK, event: peaks.activeBytes.event },
    { value: 'end', label: 'At the end', about: 'When the snapshot was taken', event: end },
  ];
  // Without a trace, only the end is known.
  return moments.filter((one) => one !== false && (end >= 0 || one.value === 'end')) as Moment[];
}

/** The moment that all sections show, and the control that changes it. */
function useMoment() {
  const { device } = useDevice();
  const moments = useMoments();
  const cursor = useView((view) => view.cursor);
  const [chosen, setChosen] = useState<Moment['value']>(cursor === undefined ? 'oom' : 'cursor');
  const hasTrace = device.events > 0;
  const find = (value: Moment['value']) =>
    moments.find((one) => one.value === value && one.event !== undefined);
  const moment = find(chosen) ?? find(hasTrace ? 'peak' : 'end');
  const event = moment?.event ?? -1;
  return {
    event,
    label: moment?.label,
    place: hasTrace ? placeText(event) : 'when the snapshot was taken',
    control: (
      <Segmented
        label="Moment"
        value={moment?.value ?? 'end'}
        options={moments}
        onChange={setChosen}
      />
    ),
  };
}

function MemorySection({ moment, annotationGroups, facts }: MemorySectionProps) {
  const { info, device } = useDevice();
  const { event } = moment;
  const { value, failure } = useQuery('memoryFigures', { event });
  const classes = useQuery('classTotals', { event: value?.event ?? event });
  const title = `${moment.label}, ${moment.place}`;
  const notes = notesOf(info, device).map(({ text }) => text);
  const copied = { info, device, title, annotationGroups, facts, notes };
  return (
    <Section
      title="Memory"
      head={
        <>
          {moment.control}
          <span className="dim">{value !== undefined && moment.place}</span>
          {value !== undefined && (
            <CopyButton
              text={summaryText({ ...copied, figures: value, classes: classes.value ?? [] })}
              label="summary as text"
              title="Copy these figures, annotations, settings and recording facts as text"
              className="button"
            >
              Copy
            </CopyButton>
          )}
        </>
      }
    >
      {value === undefined ? (
        <Unanswered failure={failure} />
      ) : (
        <>
          {!value.isWhole && (
            <p className="callout summary-caution" data-tone="warning">
              {PARTIAL_TEXT}
            </p>
          )}
          <MemoryTable figures={value} />
          <ClassTable {...classes} />
        </>
      )}
    </Section>
  );
}

const placeText = (event: EventIndex): string =>
  event < 0 ? 'before the first event' : `after event ${formatCount(event)}`;

function MemoryTable({ figures }: { readonly figures: MemoryFigures }) {
  return (
    <table className="summary-table summary-memory">
      <TableHead labels={['', ...FIELD_TEXTS.map(({ label }) => label)]} />
      {STAT_TEXTS.map((stat) => (
        <tbody key={stat.name}>
          {POOL_TEXTS.map(({ pool, label }) => (
            <tr key={pool} data-part={pool === 'all' ? undefined : true}>
              <th scope="row" title={stat.about}>
                {pool === 'all' ? stat.label : label}
              </th>
              {FIELD_TEXTS.map((field) => {
                const value = figures.pools[pool][stat.name][field.field];
                return (
                  <td key={field.field} title={stat.isBytes ? formatExactBytes(value) : undefined}>
                    {figureText(figures, pool, stat, field)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

/** Active memory by class; clicking a class filters all views to it. */
function ClassTable({ value: totals, failure }: QueryState<unknown, readonly ClassTotal[]>) {
  const theme = useTheme();
  if (totals === undefined) return <Unanswered failure={failure} />;
  const whole = totals.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <SummaryTable
      className="summary-classes"
      label="Active memory by class"
      columns={['Class', 'Active', 'Share of active', 'Allocations']}
    >
      {totals.map(({ class: own, bytes, count }) => (
        <tr key={own}>
          <th scope="row">
            <span
              className="swatch class-swatch"
              style={{ background: classColors(theme, 'class')[own] }}
              aria-hidden
            />
            <FilterLink term={classTerm(own)} about={classInfo(own).about}>
              {classInfo(own).label}
            </FilterLink>
          </th>
          <Bytes as="td" bytes={bytes} />
          <td>{formatPercent(bytes / whole)}</td>
          <td>{formatCount(count)}</td>
        </tr>
      ))}
    </SummaryTable>
  );
}
