import { useMemo } from 'react';
import { formatBytes, formatCount, formatDurationUs, formatPercent } from '../../../base/format.ts';
import { type SettingRow, settingRows } from '../../../device/memory-summary/settings.ts';
import type { Share, TraceFacts } from '../../../device/memory-summary/trace-facts.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import type { DeviceInfo, SessionInfo } from '../../../device/model/types.ts';
import { deviceName } from '../../../output/report/summary-text.ts';
import { useStores } from '../../../state/stores.ts';
import { onDevice } from '../../../state/view-fitting.ts';
import { absenceExplanation } from '../../shared/code-place.tsx';
import { notesOf, RECORDING_TEXT } from '../../shared/device-labels.ts';
import { Bytes, Fact, TableHead } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import type { QueryState } from '../../shared/use-query.ts';
import { SectionHead, Unanswered } from './section.tsx';

interface RecordingSectionProps {
  readonly query: QueryState<unknown, TraceFacts>;
}

/** What was recorded, what that hides, and what looked wrong. */
export function RecordingSection({ query }: RecordingSectionProps) {
  const { info, device } = useDevice();
  const { value, failure } = query;
  const notes = notesOf(info, device);
  return (
    <section aria-label="Recording" className="summary-section">
      <SectionHead title="Recording" />
      <dl className="summary-facts">
        <Fact term="Recording">
          {RECORDING_TEXT[device.recording].short}: {device.recordingReason}
        </Fact>
        <Fact term="Events">{eventsText(device)}</Fact>
        <Fact term="max_entries">{ringText(value?.ringOverflowed)}</Fact>
        <Fact term="Devices">
          <Devices />
        </Fact>
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
    </section>
  );
}

function Facts({ facts }: { readonly facts: TraceFacts }) {
  const { device } = useDevice();
  return (
    <>
      <p className="dim">{columnsText(facts)}</p>
      <SharesTable
        heading="Stacks"
        rows={facts.stackKinds.map((share) => ({
          ...share,
          label: share.kind === 'recorded' ? 'with a stack' : absenceText(share.kind),
          about: share.kind === 'recorded' ? '' : absenceExplanation(share.kind),
        }))}
      />
      <SharesTable
        heading="Streams"
        rows={named(facts.streams, ({ stream }) =>
          stream === '0' ? 'default stream' : `stream ${stream}`,
        )}
      />
      <SharesTable
        heading="Pools"
        rows={named(facts.pools, ({ pool }) =>
          pool === 'default' ? 'default pool' : `private pool ${pool}`,
        )}
      />
      {device.anomalies > 0 && <Anomalies facts={facts} />}
    </>
  );
}

function named<S extends Share>(shares: readonly S[], label: (share: S) => string) {
  return shares.map((share) => ({ ...share, label: label(share), about: '' }));
}

/** The devices of the file; a click goes to another. */
function Devices() {
  const { info, device } = useDevice();
  const { view } = useStores();
  return (
    <ul>
      {info.devices.map((one) => {
        const text = `${deviceName(one)}: ${formatCount(one.events)} events, at most ${formatBytes(one.peaks.reservedBytes.bytes)} reserved`;
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
function Anomalies({ facts }: { readonly facts: TraceFacts }) {
  const { device } = useDevice();
  const { view } = useStores();
  const hidden = device.anomalies - facts.anomalies.length;
  return (
    <details className="summary-details">
      <summary>{formatCount(device.anomalies)} events contradict those before them</summary>
      <ul>
        {facts.anomalies.map(({ event, message }) => (
          <li key={`${event} ${message}`}>
            <button
              type="button"
              className="link"
              onClick={() => view.commit({ view: 'timeline', cursor: event })}
            >
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

function ringText(overflowed: boolean | undefined): string {
  if (overflowed === undefined) return 'unknown whether events were dropped';
  return overflowed ? 'full: the oldest events were dropped' : 'no events were dropped';
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

interface ShareRow extends Share {
  readonly label: string;
  /** A sentence that explains it; '' for none. */
  readonly about: string;
}

interface SharesTableProps {
  readonly heading: string;
  readonly rows: readonly ShareRow[];
}

/** Groups of allocations: how many there were, and their part of memory. */
function SharesTable({ heading, rows }: SharesTableProps) {
  const peakBytes = rows.reduce((sum, row) => sum + row.peakBytes, 0);
  return (
    <table className="summary-table summary-shares">
      <TableHead labels={[heading, 'Allocations', 'At the peak', 'Share', 'At the end']} />
      <tbody>
        {rows.map((row) => (
          <tr key={row.label} data-none={row.allocations === 0 || undefined}>
            <th scope="row" title={row.about === '' ? undefined : row.about}>
              {row.label}
              {row.about !== '' && row.allocations > 0 && (
                <span className="summary-about dim small">{row.about}</span>
              )}
            </th>
            <td>{formatCount(row.allocations)}</td>
            <Bytes as="td" bytes={row.peakBytes} />
            <td>{shareText(row.peakBytes, peakBytes)}</td>
            <Bytes as="td" bytes={row.endBytes} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** '12.3%', '< 0.1%', '–' of nothing. */
function shareText(part: number, whole: number): string {
  return whole === 0 ? '–' : formatPercent(part / whole, 1);
}

/** The allocator's settings; those that are not PyTorch's defaults first, and marked. */
export function SettingsSection() {
  const { info } = useDevice();
  const rows = useMemo(() => settingRows(info.settings), [info.settings]);
  const changed = rows.filter(({ isDefault }) => isDefault !== true).length;
  return (
    <section aria-label="Allocator settings" className="summary-section">
      <SectionHead title="Allocator settings">
        <span className="dim">{rows.length > 0 && changedText(changed)}</span>
      </SectionHead>
      {rows.length === 0 ? (
        <p className="dim">
          This file has no settings; PyTorch 2.3 and later write them. Rounding and splitting are
          assumed to be the defaults.
        </p>
      ) : (
        <table className="summary-table summary-settings">
          <TableHead labels={['Setting', 'Recorded', 'PyTorch’s default', 'What it does']} />
          <tbody>
            {rows.map((row) => (
              <Setting key={row.name} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </section>
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
