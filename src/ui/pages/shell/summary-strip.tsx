import { ChevronDown, TriangleAlert } from 'lucide-react';
import type { Peak } from '../../../allocator/replay/types.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import { type DeviceInfo, failedOoms } from '../../../device/model/device-info.ts';
import { mainPeak, peakText } from '../../../device/model/main-device.ts';
import { useStores } from '../../../state/stores.ts';
import { Button, Popover } from '../../shared/buttons.tsx';
import { notesOf, RECORDING_TEXT } from '../../shared/device-labels.ts';
import { type DeviceInView, useDevice } from '../../shared/services.ts';

/** Notes that make no figure wrong. */
const HARMLESS =
  /^(unknown-key|unpaired-annotation|other-files|window|device|recording-preexisting)$/;

interface Stat {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** The exact figure, or the full sentence. */
  readonly title?: string;
  readonly tone?: 'good' | 'warning' | 'danger';
  /** Makes it a button that goes to the next of these events after the cursor. */
  readonly events?: readonly number[];
}

/**
 * The recording at a glance: how it ended, its peak, and what is missing. The tab row shows the figures that fit; a
 * button opens all of them, with notes.
 */
export function SummaryStrip() {
  const shown = useDevice();
  const { info, device } = shown;
  const notes = notesOf(info, device);
  const isDoubtful = info.file.partial !== undefined || device.anomalies > 0;
  const main = mainPeak(device.peaks);
  const hasTrace = device.events > 0;
  const [oom, recording, end] = [oomStat(shown), recordingStat(shown), endStat(shown)];
  const first = hasTrace ? peakStat(`Peak ${main.of}`, main, device) : end;
  const peaks = (['allocated', 'active', 'reserved'] as const).map((of) =>
    peakStat(`Peak ${of}`, device.peaks[`${of}Bytes`], device),
  );
  return (
    <section className="summary" aria-label="Summary">
      {/* The last is dropped first: that all is there, or what a recording that is not whole can't tell. */}
      <Stats
        stats={
          isCut(shown) && oom.tone === undefined ? [recording, first, oom] : [oom, first, recording]
        }
      />
      <Popover
        className="summary-all"
        button={(id) => (
          <Button
            className="dim summary-more hoverable"
            data-tone={isDoubtful ? 'warning' : undefined}
            popoverTarget={id}
            title="All figures of the recording, and notes on it"
          >
            {isDoubtful && <TriangleAlert size={14} aria-hidden />}
            {notes.length > 0 ? plural(notes.length, 'note') : 'Figures'}
            <ChevronDown size={14} aria-hidden />
          </Button>
        )}
      >
        <div className="summary-figures">
          <Stats stats={[...(hasTrace ? peaks : []), end, oom, recording]} />
        </div>
        {notes.length > 0 && (
          <ul className="notes">
            {notes.map(({ code, text }) => (
              <li key={`${code} ${text}`}>
                <code data-tone={HARMLESS.test(code) ? undefined : 'warning'}>{code}</code> {text}
              </li>
            ))}
          </ul>
        )}
      </Popover>
    </section>
  );
}

function endStat({ device }: DeviceInView): Stat {
  const { allocatedBytes, reservedBytes } = device.end;
  return {
    label: 'At the end',
    value: formatBytes(allocatedBytes),
    note: `of ${formatBytes(reservedBytes)} reserved`,
    title: `${formatExactBytes(allocatedBytes)} allocated of ${formatExactBytes(reservedBytes)} reserved`,
  };
}

/** Something is missing that may have mattered. */
const isCut = ({ info, device }: DeviceInView): boolean =>
  info.file.partial !== undefined || ['truncated', 'none'].includes(device.recording);

function recordingStat(shown: DeviceInView): Stat {
  const { info, device } = shown;
  const { partial } = info.file;
  const { short, note } = RECORDING_TEXT[device.recording];
  const isWhole = partial === undefined && device.recording === 'complete';
  return {
    label: 'Recording',
    value: partial === undefined ? short : 'partial',
    note: partial === undefined ? note(device) : 'only events before the error',
    title: partial ?? device.recordingReason,
    // A recording that began late is whole from there on.
    ...(isWhole ? { tone: 'good' } : isCut(shown) && { tone: 'warning' }),
  };
}

function peakStat(label: string, { bytes, event }: Peak, { recording }: DeviceInfo): Stat {
  const before = recording === 'complete' ? '' : ' in the recording; it lacks what was before';
  const note = event < 0 ? 'before the trace' : `event ${formatCount(event)}`;
  return {
    label,
    value: peakText(bytes, recording),
    note,
    title: `${formatExactBytes(bytes)}, ${note}${before}`,
    ...(event >= 0 && { events: [event] }),
  };
}

function oomStat(shown: DeviceInView): Stat {
  const { device } = shown;
  const label = 'Out of memory';
  const ooms = failedOoms(device);
  const [first] = ooms;
  const retried = device.ooms.length - ooms.length;
  if (first === undefined) {
    if (device.events === 0 || isCut(shown)) {
      const none = device.events === 0;
      const note = none ? 'no recorded history' : 'part of the recording is missing';
      return { label, value: "can't tell", note };
    }
    const none = 'no out-of-memory events';
    const note = retried > 0 ? `${formatCount(retried)} retried, no error` : none;
    return { label, value: 'none', note };
  }
  const others =
    retried > 0 ? `; ${plural(retried, 'other request was', 'other requests were')} retried` : '';
  const event = formatCount(first.event);
  return {
    label,
    value: ooms.length === 1 ? 'once' : `${formatCount(ooms.length)} times`,
    note: `event ${event} requested ${formatBytes(first.requestedBytes)}`,
    title: `Event ${event}: ${formatExactBytes(first.requestedBytes)} requested; ${formatExactBytes(first.deviceFreeBytes)} was free on the device${others}`,
    tone: 'danger',
    events: ooms.map((oom) => oom.event),
  };
}

function Stats({ stats }: { readonly stats: readonly Stat[] }) {
  const { view } = useStores();
  return stats.map(({ label, value, note, title, tone, events }) => {
    const showNext = () => {
      const now = view.getState().view.cursor ?? -1;
      view.commit({ cursor: events?.find((event) => event > now) ?? events?.[0] });
    };
    // Without events there is nowhere to go.
    const [Tag, action] =
      events === undefined
        ? (['div', {}] as const)
        : ([Button, { className: 'stat hoverable', onClick: showNext }] as const);
    return (
      <Tag key={label} className="stat" title={title} {...action}>
        <span className="dim small">{label}</span>
        <span className="stat-value" data-tone={tone}>
          {value}
        </span>
        <span className="stat-note dim small">{note}</span>
      </Tag>
    );
  });
}
