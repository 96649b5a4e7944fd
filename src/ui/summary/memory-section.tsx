import { useState } from 'react';
import { formatCount, formatExactBytes } from '../../core/base/format.ts';
import type { MemoryFigures } from '../../core/query/summary/memory-tally.ts';
import {
  FIELD_TEXTS,
  figureText,
  memoryText,
  PARTIAL_TEXT,
  POOL_TEXTS,
  STAT_TEXTS,
} from '../../core/query/summary/stat-texts.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useView } from '../../state/stores.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { useAnswer } from '../cursor/use-answer.ts';
import { SectionHead, Unanswered } from './section.tsx';

interface MemorySectionProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

const MOMENTS = ['cursor', 'oom', 'peak', 'end'] as const;
type Moment = (typeof MOMENTS)[number];

const MOMENT_TEXTS: Readonly<Record<Moment, { readonly label: string; readonly title: string }>> = {
  cursor: { label: 'At the cursor', title: 'The event that is pinned' },
  oom: {
    label: 'At the OOM',
    title: 'When memory ran out; the last time, where it did several times',
  },
  peak: { label: 'At the peak', title: 'Where active memory stood highest' },
  end: { label: 'At the end', title: 'When the snapshot was taken' },
};

const ask = (session: SessionApi, question: { device: number; event: EventIndex }) =>
  session.memoryFigures(question);

/** The figures of torch.cuda.memory_summary(), at any event. */
export function MemorySection({ info, device }: MemorySectionProps) {
  const cursor = useView((view) => view.cursor);
  const [chosen, setChosen] = useState<Moment>('oom');
  const events: Readonly<Record<Moment, EventIndex | undefined>> = {
    cursor,
    oom: device.ooms.at(-1)?.event,
    peak: device.peaks.activeBytes.event,
    end: device.events - 1,
  };
  const moment = events[chosen] === undefined ? 'peak' : chosen;
  const event = events[moment] ?? -1;
  const { value, failure } = useAnswer(ask, { device: device.index, event }, info);
  const title = `${MOMENT_TEXTS[moment].label}, ${placeText(value?.event ?? -1)} of device ${device.device}`;
  return (
    <section aria-label="Memory" className="summary-section">
      <SectionHead title="Memory">
        <fieldset className="segmented" aria-label="Moment">
          {MOMENTS.filter((one) => one !== 'oom' || events.oom !== undefined).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === moment}
              disabled={events[one] === undefined}
              title={events[one] === undefined ? 'No event is pinned' : MOMENT_TEXTS[one].title}
              onClick={() => setChosen(one)}
            >
              {MOMENT_TEXTS[one].label}
            </button>
          ))}
        </fieldset>
        <span className="dim">{value !== undefined && placeText(value.event)}</span>
        {value !== undefined && (
          <CopyButton
            text={memoryText(value, title)}
            label="figures as text"
            title="Copy the table as text"
            className="button"
          >
            Copy as text
          </CopyButton>
        )}
      </SectionHead>
      {value === undefined ? (
        <Unanswered failure={failure} />
      ) : (
        <>
          {!value.isWhole && <p className="summary-caution">{PARTIAL_TEXT}</p>}
          <MemoryTable figures={value} />
        </>
      )}
    </section>
  );
}

const placeText = (event: EventIndex): string =>
  event < 0 ? 'before the first event' : `after event ${formatCount(event)}`;

function MemoryTable({ figures }: { readonly figures: MemoryFigures }) {
  return (
    <table className="summary-table summary-memory">
      <thead>
        <tr>
          <td />
          {FIELD_TEXTS.map(({ field, label }) => (
            <th key={field} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
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
