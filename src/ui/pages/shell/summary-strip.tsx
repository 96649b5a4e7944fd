import { ChevronDown, TriangleAlert } from 'lucide-react';
import { type ToggleEvent, useId } from 'react';
import type { CounterName, Peak } from '../../../allocator/replay/types.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import { failedOoms } from '../../../device/model/device-info.ts';
import { mainPeak } from '../../../device/model/main-device.ts';
import { useStores } from '../../../state/stores.ts';
import { type Note, notesOf, RECORDING_TEXT } from '../../shared/device-labels.ts';
import { useDevice } from '../../shared/services.ts';

const PEAKS: readonly { readonly name: CounterName; readonly label: string }[] = [
  { name: 'allocatedBytes', label: 'Peak allocated' },
  { name: 'activeBytes', label: 'Peak active' },
  { name: 'reservedBytes', label: 'Peak reserved' },
];

/**
 * What happened, in seconds: how it ended, how high it went, and what the recording hides. In the row
 * of the tabs stand the figures that fit there; a button opens all of them, with the notes.
 */
export function SummaryStrip() {
  const { info, device } = useDevice();
  const id = useId();
  const notes = notesOf(info, device);
  const isWhole = device.recording === 'complete' && info.file.partial === undefined;
  const isDoubtful = info.file.partial !== undefined || device.anomalies > 0;
  const recording = <RecordingStat />;
  const peak = mainPeak(device.peaks);
  const first =
    device.events > 0 ? <PeakStat label={`Peak ${peak.of}`} peak={peak} /> : <EndStat />;
  return (
    <section className="summary" aria-label="Summary">
      <OomStat />
      {/* The last gives way first: what the recording hides comes before how high it went. */}
      {isWhole ? first : recording}
      {isWhole ? recording : first}
      <button
        type="button"
        className="summary-more hoverable"
        data-tone={isDoubtful ? 'warning' : undefined}
        popoverTarget={id}
        title="All figures of the recording, and notes on it"
      >
        {isDoubtful && <TriangleAlert size={14} aria-hidden />}
        {notes.length > 0 ? plural(notes.length, 'note') : 'Figures'}
        <ChevronDown size={14} aria-hidden />
      </button>
      <div id={id} popover="auto" className="floating summary-all" onBeforeToggle={placeBelowRow}>
        <div className="summary-figures">
          {device.events > 0 &&
            PEAKS.map(({ name, label }) => (
              <PeakStat key={name} label={label} peak={device.peaks[name]} />
            ))}
          <EndStat />
          <OomStat />
          <RecordingStat />
        </div>
        {notes.length > 0 && <Notes notes={notes} />}
      </div>
    </section>
  );
}

/** A popover is in the top layer, where nothing else places it: below its row, at the right of the page. */
function placeBelowRow({ currentTarget, newState }: ToggleEvent<HTMLElement>): void {
  const row = currentTarget.parentElement;
  if (newState !== 'open' || row === null) return;
  currentTarget.style.top = `${row.getBoundingClientRect().bottom + 2}px`;
}

function EndStat() {
  const { device } = useDevice();
  const { allocatedBytes, reservedBytes } = device.end;
  return (
    <Stat
      label="At the end"
      value={formatBytes(allocatedBytes)}
      note={`of ${formatBytes(reservedBytes)} reserved`}
      title={`${formatExactBytes(allocatedBytes)} allocated of ${formatExactBytes(reservedBytes)} reserved`}
    />
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
        note="only events before the error"
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
      title={`${formatExactBytes(peak.bytes)}, ${note}`}
      {...(!isBefore && { onClick: () => view.commit({ cursor: peak.event }) })}
    />
  );
}

/** Each press goes on to the next OOM. */
function OomStat() {
  const { info, device } = useDevice();
  const { view } = useStores();
  const ooms = failedOoms(device);
  const first = ooms[0];
  const retried = device.ooms.length - ooms.length;
  if (device.events === 0) {
    return <Stat label="Out of memory" value="can't tell" note="no recorded history" />;
  }
  if (
    first === undefined &&
    (device.recording === 'truncated' || info.file.partial !== undefined)
  ) {
    return (
      <Stat label="Out of memory" value="can't tell" note="part of the recording is missing" />
    );
  }
  if (first === undefined) {
    const note =
      retried > 0 ? `${formatCount(retried)} retried, no error` : 'no out-of-memory events';
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
      note={`event ${formatCount(first.event)} requested ${formatBytes(first.requestedBytes)}`}
      title={`Event ${formatCount(first.event)}: ${formatExactBytes(first.requestedBytes)} requested; ${formatExactBytes(first.deviceFreeBytes)} was free on the GPU${others}`}
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
  /** Makes it a button that leads to the place in the timeline. */
  readonly onClick?: () => void;
}

/** One figure of the summary. */
function Stat({ label, value, note, title, tone, onClick }: StatProps) {
  const content = (
    <>
      <span className="dim small">{label}</span>
      <span className="stat-value" data-tone={tone}>
        {value}
      </span>
      <span className="stat-note dim small">{note}</span>
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
    <button type="button" className="stat hoverable" title={title} onClick={onClick}>
      {content}
    </button>
  );
}
