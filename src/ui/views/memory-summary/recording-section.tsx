import { useMemo } from 'react';
import type { Recording } from '../../../allocator/replay/types.ts';
import { formatBytes, formatCount, formatDurationUs, formatPercent } from '../../../base/format.ts';
import { limitRow, type SettingRow, settingRows } from '../../../device/memory-summary/settings.ts';
import type { Share, TraceFacts } from '../../../device/memory-summary/trace-facts.ts';
import type { DeviceInfo, SessionInfo } from '../../../device/model/device-info.ts';
import { peakText } from '../../../device/model/main-device.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import { workspaceBytes } from '../../../device/model/vendors.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { deviceName } from '../../../output/report/summary-text.ts';
import { useStores } from '../../../state/stores.ts';
import { onDevice } from '../../../state/view-fitting.ts';
import { absenceExplanation } from '../../shared/code-place.tsx';
import { notesOf, RECORDING_TEXT } from '../../shared/device-labels.ts';
import { Bytes, Fact } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import type { QueryState } from '../../shared/use-query.ts';
import { Section, SummaryTable, Unanswered } from './section.tsx';

interface RecordingSectionProps {
  readonly query: QueryState<unknown, TraceFacts>;
}

/** What was recorded, what is missing, and what looked wrong. */
export function RecordingSection({ query: { value, failure } }: RecordingSectionProps) {
  const { info, device } = useDevice();
  const notes = notesOf(info, device);
  return (
    <Section title="Recording">
      <dl className="summary-facts">
        <Fact term="Recording">
          {RECORDING_TEXT[device.recording].short}: {device.recordingReason}
        </Fact>
        <Fact term="Events">{eventsText(device)}</Fact>
        <Fact term="max_entries">{ringText(value?.ringOverflowed, device.recording)}</Fact>
        <Fact term="Devices">
          <Devices />
        </Fact>
        {workspaceBytes(device) > 0 && (
          <Fact term="Workspaces">
            {formatBytes(workspaceBytes(device))} for operators, outside the counters above
          </Fact>
        )}
        <Fact term="File">{fileText(info)}</Fact>
      </dl>
      {notes.length > 0 && (
        <ul className="callout summary-notes" data-tone="warning" aria-label="Warnings">
          {notes.map(({ code, text }) => (
            <li key={`${code} ${text}`}>{text}</li>
          ))}
        </ul>
      )}
      {value === undefined ? <Unanswered failure={failure} /> : <Facts facts={value} />}
    </Section>
  );
}

const STACKS = {
  recorded: { label: 'with Python frames', about: undefined },
  'C++-only': {
    label: 'C++ frames only',
    about:
      'The thread ran no Python at that moment: autograd runs the backward pass in threads of its own.',
  },
} as const;

function Facts({ facts }: { readonly facts: TraceFacts }) {
  const { device } = useDevice();
  const { stackKinds, streams, pools } = facts;
  return (
    <>
      <p className="dim">{columnsText(facts)}</p>
      <SharesTable
        heading="Stacks"
        rows={stackKinds.filter(({ allocations }) => allocations > 0)}
        label={({ kind }) =>
          kind === 'recorded' || kind === 'C++-only' ? STACKS[kind].label : absenceText(kind)
        }
        about={({ kind }) =>
          kind === 'recorded' || kind === 'C++-only'
            ? STACKS[kind].about
            : absenceExplanation(kind, device.recording)
        }
      />
      <SharesTable
        heading="Streams"
        rows={streams}
        label={({ stream }) => (stream === '0' ? 'default stream' : `stream ${stream}`)}
      />
      <SharesTable
        heading="Pools"
        rows={pools}
        label={({ pool }) => (pool === 'default' ? 'default pool' : `private pool ${pool}`)}
      />
      {device.anomalies > 0 && <Anomalies facts={facts} />}
    </>
  );
}

function Devices() {
  const { info, device } = useDevice();
  const { view } = useStores();
  return (
    <ul>
      {info.devices.map((one) => {
        const text = `${deviceName(one)}: ${formatCount(one.events)} events, ${peakText(one.peaks.reservedBytes.bytes, one.recording)} reserved at the peak`;
        return (
          <li key={one.index}>
            {one.index === device.index ? (
              <span>{text} (shown)</span>
            ) : (
              <button type="button" className="link" onClick={() => view.commit(onDevice(one))}>
                {text}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** The first hundred events that contradict the state before them. */
function Anomalies({ facts: { anomalies } }: { readonly facts: TraceFacts }) {
  const { device } = useDevice();
  const { view } = useStores();
  const hidden = device.anomalies - anomalies.length;
  const show = (event: EventIndex) => view.commit({ view: 'timeline', cursor: event });
  return (
    <details className="summary-details">
      <summary>
        {device.anomalies === 1
          ? '1 event contradicts those before it'
          : `${formatCount(device.anomalies)} events contradict those before them`}
      </summary>
      <ul>
        {anomalies.map(({ event, message }) => (
          <li key={`${event} ${message}`}>
            <button type="button" className="link" onClick={() => show(event)}>
              event {formatCount(event)}
            </button>{' '}
            {message}
          </li>
        ))}
        {hidden > 0 && <li className="dim">and {formatCount(hidden)} more</li>}
      </ul>
    </details>
  );
}

function eventsText({ events, actions, hasTime, durationUs }: DeviceInfo): string {
  if (events === 0) return 'none';
  const kinds = Object.entries(actions)
    .sort(([, a], [, b]) => b - a)
    .map(([action, count]) => `${formatCount(count)} ${action}`);
  const time = hasTime ? `, over ${formatDurationUs(durationUs)}` : ', no timestamps';
  return `${formatCount(events)}${time}: ${kinds.join(', ')}`;
}

/** What the recording's own state says of its ring. */
const IS_FULL: Partial<Record<Recording, boolean>> = { truncated: true, complete: false };

function ringText(overflowed: boolean | undefined, recording: Recording): string {
  const isFull = overflowed ?? IS_FULL[recording];
  if (isFull === undefined) return 'unknown whether events were dropped';
  return isFull ? 'full: the oldest events were dropped' : 'no events were dropped';
}

function columnsText({ columns }: TraceFacts): string {
  const labels = (isRecorded: boolean) =>
    columns.filter((column) => column.isRecorded === isRecorded).map(({ label }) => label);
  const [present, missing] = [labels(true), labels(false)];
  const parts = [
    present.length > 0 && `Recorded: ${present.join(', ')}.`,
    missing.length > 0 && `Not in this file: ${missing.join(', ')}.`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

function fileText({ file }: SessionInfo): string {
  const { bytes, container, protocol, decoder } = file;
  const parts = [
    `${formatCount(bytes)} bytes`,
    container,
    protocol === undefined ? undefined : `pickle protocol ${protocol}`,
    `${decoder} decoder`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

interface SharesTableProps<S extends Share> {
  readonly heading: string;
  readonly rows: readonly S[];
  readonly label: (share: S) => string;
  readonly about?: (share: S) => string | undefined;
}

/** Groups of allocations: their count, and their share of memory. */
function SharesTable<S extends Share>({ heading, rows, label, about }: SharesTableProps<S>) {
  const whole = rows.reduce((sum, row) => sum + row.peakBytes, 0);
  return (
    <SummaryTable
      className="summary-shares"
      columns={[heading, 'Allocations', 'At the peak', 'Share of active', 'At the end']}
    >
      {rows.map((row) => {
        const { allocations, peakBytes, endBytes } = row;
        const sentence = about?.(row);
        return (
          <tr key={label(row)} data-none={allocations === 0 || undefined}>
            <th scope="row" title={sentence}>
              {label(row)}
              {sentence !== undefined && allocations > 0 && (
                <span className="summary-about dim small">{sentence}</span>
              )}
            </th>
            <td>{formatCount(allocations)}</td>
            <Bytes as="td" bytes={peakBytes} />
            <td>{whole === 0 ? '–' : formatPercent(peakBytes / whole, 1)}</td>
            <Bytes as="td" bytes={endBytes} />
          </tr>
        );
      })}
    </SummaryTable>
  );
}

/** The allocator's settings; those that differ from PyTorch's defaults come first, marked. */
export function SettingsSection() {
  const { info, device } = useDevice();
  const recorded = useMemo(() => settingRows(info.settings), [info.settings]);
  const changed = recorded.filter(({ isDefault }) => isDefault !== true).length;
  const limit = limitRow(device, info.settings);
  const rows = limit === undefined ? recorded : [limit, ...recorded];
  const isKnown = recorded.length > 0;
  const more = limit === undefined ? '' : `; ${limit.name}: ${limit.value}`;
  const head = <span className="dim">{isKnown && `${changedText(changed)}${more}`}</span>;
  return (
    <Section title="Allocator settings" head={head}>
      {!isKnown && (
        <p className="dim">
          This file has no settings; PyTorch 2.3 and later write them for most devices. Rounding and
          splitting are assumed to be the defaults.
        </p>
      )}
      {rows.length > 0 && (
        <SummaryTable
          className="summary-settings"
          columns={['Setting', 'Recorded', 'PyTorch’s default', 'What it does']}
        >
          {rows.map((row) => (
            <Setting key={row.name} row={row} />
          ))}
        </SummaryTable>
      )}
    </Section>
  );
}

function changedText(changed: number): string {
  if (changed === 0) return 'all at PyTorch’s defaults';
  return changed === 1 ? '1 differs from the default' : `${changed} differ from the defaults`;
}

function Setting({ row }: { readonly row: SettingRow }) {
  const { name, value, defaultValue, isDefault, about, source } = row;
  return (
    <tr data-changed={isDefault === true ? undefined : true}>
      <th scope="row" className="mono">
        {name}
      </th>
      <td className="mono">
        {value}
        {isDefault === false && <span className="chip">changed</span>}
      </td>
      <td className="mono" title={source === '' ? undefined : `From ${source}`}>
        {defaultValue ?? 'unknown'}
      </td>
      <td>{about === '' ? <span className="dim">a key that is not known here</span> : about}</td>
    </tr>
  );
}
