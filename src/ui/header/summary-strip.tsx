import { failedOoms } from '../../core/device/device-info.ts';
import './summary-strip.css';
import { ChevronDown, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../core/base/format.ts';
import type { CounterName, Peak } from '../../core/replay/types.ts';
import { useStores } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import { type Note, notesOf, RECORDING_TEXT } from '../shared/device-labels.ts';

const PEAKS: readonly { readonly name: CounterName; readonly label: string }[] = [
  { name: 'allocatedBytes', label: 'Peak allocated' },
  { name: 'activeBytes', label: 'Peak active' },
  { name: 'reservedBytes', label: 'Peak reserved' },
];

/** What happened, in seconds: how high it went, how it ended, and what the recording hides. */
export function SummaryStrip() {
  const { info, device } = useDevice();
  const [isExpanded, setIsExpanded] = useState(false);
  const notes = notesOf(info, device);
  return (
    <section className="summary" aria-label="Summary">
      <div className="summary-row">
        {device.events > 0 &&
          PEAKS.map(({ name, label }) => (
            <PeakStat key={name} label={label} peak={device.peaks[name]} />
          ))}
        <Stat
          label="At the end"
          value={formatBytes(device.end.allocatedBytes)}
          note={`of ${formatBytes(device.end.reservedBytes)} reserved`}
          title={`${formatExactBytes(device.end.allocatedBytes)} allocated of ${formatExactBytes(device.end.reservedBytes)} reserved`}
        />
        <OomStat />
        <RecordingStat />
        {notes.length > 0 && (
          <button
            type="button"
            className="notes-toggle"
            aria-expanded={isExpanded}
            onClick={() => setIsExpanded(!isExpanded)}
          >
            <TriangleAlert size={14} aria-hidden />
            {plural(notes.length, 'note')}
            <ChevronDown size={14} aria-hidden />
          </button>
        )}
      </div>
      {isExpanded && <Notes notes={notes} />}
    </section>
  );
}

function RecordingStat() {
  const { info, device } = useDevice();
  const { partial } = info.file;
  if (partial !== undefined) {
    return (
      <Stat
        label="Recording"
        value="partial"
        note="only what came before the fault"
        title={partial}
        tone="warning"
      />
    );
  }
  const { short, note } = RECORDING_TEXT[device.recording];
  return (
    <Stat
      label="Recording"
      value={short}
      note={note(device)}
      title={device.recordingReason}
      tone={device.recording === 'complete' ? 'good' : 'warning'}
    />
  );
}

function PeakStat({ label, peak }: { readonly label: string; readonly peak: Peak }) {
  const { view } = useStores();
  const isBefore = peak.event < 0;
  const note = isBefore ? 'before the trace' : `event ${formatCount(peak.event)}`;
  return (
    <Stat
      label={label}
      value={formatBytes(peak.bytes)}
      note={note}
      isNoteMinor
      title={`${formatExactBytes(peak.bytes)}, ${note}`}
      {...(!isBefore && { onClick: () => view.commit({ cursor: peak.event }) })}
    />
  );
}

/** Each press goes on to the next OOM. */
function OomStat() {
  const { device } = useDevice();
  const { view } = useStores();
  const ooms = failedOoms(device);
  const first = ooms[0];
  const retried = device.ooms.length - ooms.length;
  if (device.events === 0) {
    return <Stat label="Out of memory" value="cannot tell" note="no trace to look in" />;
  }
  if (first === undefined) {
    const note = retried > 0 ? `${formatCount(retried)} retried, no error` : 'no OOM events';
    return <Stat label="Out of memory" value="none" note={note} />;
  }
  const others =
    retried > 0 ? `; ${plural(retried, 'other request was', 'other requests were')} retried` : '';
  const showNext = () => {
    const cursor = view.getState().view.cursor ?? -1;
    view.commit({ cursor: (ooms.find(({ event }) => event > cursor) ?? first).event });
  };
  return (
    <Stat
      label="Out of memory"
      value={ooms.length === 1 ? 'once' : `${formatCount(ooms.length)} times`}
      note={`asked for ${formatBytes(first.requestedBytes)}`}
      title={`Event ${formatCount(first.event)}: asked for ${formatExactBytes(first.requestedBytes)}; the driver said ${formatExactBytes(first.deviceFreeBytes)} were free on the device${others}`}
      tone="danger"
      onClick={showNext}
    />
  );
}

function Notes({ notes }: { readonly notes: readonly Note[] }) {
  return (
    <ul className="notes">
      {notes.map(({ code, text }) => (
        <li key={`${code} ${text}`}>
          <code>{code}</code> {text}
        </li>
      ))}
    </ul>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** The exact figure or the whole sentence. */
  readonly title?: string;
  readonly tone?: 'good' | 'warning' | 'danger';
  /** The note gives way first where there is little room; the title then has to say it too. */
  readonly isNoteMinor?: boolean;
  /** Makes it a button that leads to the place in the timeline. */
  readonly onClick?: () => void;
}

/** One figure of the summary. */
function Stat({ label, value, note, title, tone, isNoteMinor, onClick }: StatProps) {
  const content = (
    <>
      <span className="stat-label">{label}</span>
      <span className="stat-value" data-tone={tone}>
        {value}
      </span>
      <span className="stat-note" data-minor={isNoteMinor}>
        {note}
      </span>
    </>
  );
  if (onClick === undefined) {
    return (
      <div className="stat" title={title}>
        {content}
      </div>
    );
  }
  return (
    <button type="button" className="stat stat-button" title={title} onClick={onClick}>
      {content}
    </button>
  );
}
