import './runs.css';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { formatBytes, formatCount, formatExactBytes } from '../../../base/format.ts';
import { failureText } from '../../../output/report/what-if-citation.ts';
import type { CardFit } from '../../../worker/protocol.ts';
import {
  CONFIDENCE_TEXT,
  cardText,
  cardTitle,
  type RowSort,
  type SettingRow,
  type SortKey,
  settingName,
} from './setting-rows.ts';

interface SettingsTableProps {
  readonly recorded: RecordedRun;
  readonly recordedCard: CardFit | undefined;
  readonly rows: readonly SettingRow[];
  readonly chosen: string;
  readonly onChoose: (settings: string) => void;
  readonly sort: RowSort | undefined;
  readonly onSort: (sort: RowSort | undefined) => void;
}

const COLUMNS: Readonly<Record<SortKey, readonly [label: string, about: string]>> = {
  settings: ['Setting', 'PYTORCH_ALLOC_CONF'],
  reserved: [
    'Peak reserved',
    'Peak reserved memory; the darker part of a bar is peak allocated memory',
  ],
  card: [
    'Fits on',
    'The smallest common GPU size that would fit all requests, whatever the memory above; slow: only by giving back all cached memory now and then',
  ],
  ooms: ['OOM', 'Requests that would run out of memory'],
  retries: [
    'Retries',
    'How often PyTorch would release its whole cache to serve one request (slow)',
  ],
  calls: [
    'Calls',
    'Calls of cudaMalloc and cudaFree, or maps and unmaps; each one stalls your program',
  ],
  confidence: ['Confidence', 'How certain the figures are; the reasons are below'],
};
const KEYS = Object.keys(COLUMNS) as readonly SortKey[];
const NUMBERS: readonly SortKey[] = ['card', 'ooms', 'retries', 'calls'];

/** In multiples of the recorded run: one absurd setting must not make all other bars too short to compare. */
const LONGEST_BAR = 2;

export function SettingsTable(props: SettingsTableProps) {
  const { recorded, recordedCard, rows, chosen, onChoose, sort, onSort } = props;
  const recordedBytes = recorded.peakReservedBytes;
  const highest = Math.max(
    recordedBytes,
    ...rows.map(({ result }) => result?.peakReservedBytes ?? 0),
  );
  const most = Math.min(highest, recordedBytes * LONGEST_BAR);
  return (
    <table className="whatif-table" aria-label="Settings">
      <thead>
        <tr>
          {KEYS.map((key) => (
            <SortHeader key={key} column={key} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        <tr className="whatif-recorded">
          <th scope="row">
            As recorded
            {recorded.settings !== '' && <SettingText settings={recorded.settings} />}
          </th>
          <RunCells run={recorded} card={recordedCard} most={most}>
            <td className="dim" title="What really happened">
              real
            </td>
          </RunCells>
        </tr>
        {rows.map(({ settings, result, card }) => (
          // For keys there is the radio button.
          <tr
            key={settings}
            data-chosen={settings === chosen || undefined}
            onClick={() => onChoose(settings)}
          >
            <th scope="row">
              <label className="whatif-choice">
                <input
                  type="radio"
                  name="whatif-setting"
                  checked={settings === chosen}
                  onChange={() => onChoose(settings)}
                />
                <SettingText settings={settings} />
              </label>
            </th>
            {result === undefined ? (
              <td className="dim" colSpan={KEYS.length - 1}>
                not tried yet
              </td>
            ) : (
              <RunCells run={result} card={card} most={most} recordedBytes={recordedBytes}>
                <td title={CONFIDENCE_TEXT[result.confidence]} data-confidence={result.confidence}>
                  {result.confidence}
                </td>
              </RunCells>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SortHeaderProps extends Pick<SettingsTableProps, 'sort' | 'onSort'> {
  readonly column: SortKey;
}

/** Cycles: ascending, descending, best first. */
function SortHeader({ column: key, sort, onSort }: SortHeaderProps) {
  const [label, about] = COLUMNS[key];
  const isSorted = sort?.key === key;
  const descending = isSorted && sort.descending;
  const next = descending ? undefined : { key, descending: isSorted };
  const state = descending ? 'descending' : 'ascending';
  const Arrow = descending ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      className={NUMBERS.includes(key) ? 'figure' : undefined}
      aria-sort={isSorted ? state : undefined}
    >
      <button type="button" title={about} onClick={() => onSort(next)}>
        {label}
        {isSorted && <Arrow size={12} aria-hidden />}
      </button>
    </th>
  );
}

/** Breaks lines between options, not within their names. */
function SettingText({ settings }: { readonly settings: string }) {
  if (settings === '') return <span>{settingName(settings)}</span>;
  return (
    <code>
      {settings.split(/(?<=,)/).map((option) => (
        <Fragment key={option}>
          <span>{option}</span>
          <wbr />
        </Fragment>
      ))}
    </code>
  );
}

interface RunCellsProps {
  readonly run: RecordedRun | WhatIfResult;
  readonly card: CardFit | undefined;
  /** Bytes of the longest bar; longer ones are cut. */
  readonly most: number;
  /** The baseline for the difference; undefined for the recorded run itself. */
  readonly recordedBytes?: number;
  readonly children: ReactNode;
}

function RunCells({ run, card, most, recordedBytes, children }: RunCellsProps) {
  const { peakReservedBytes, peakAllocatedBytes, retries, deviceAllocs, deviceFrees } = run;
  const ooms = oomsOf(run);
  const percent = (bytes: number) => `${most === 0 ? 0 : Math.min(100, (100 * bytes) / most)}%`;
  return (
    <>
      <td>
        <div
          className="whatif-bar-cell"
          title={`${formatExactBytes(peakReservedBytes)} reserved, ${formatExactBytes(peakAllocatedBytes)} allocated at the peaks`}
        >
          <span className="whatif-bar" data-cut={peakReservedBytes > most || undefined} aria-hidden>
            <span className="whatif-bar-reserved" style={{ width: percent(peakReservedBytes) }} />
            <span className="whatif-bar-allocated" style={{ width: percent(peakAllocatedBytes) }} />
            {recordedBytes !== undefined && (
              <span className="whatif-bar-mark" style={{ left: percent(recordedBytes) }} />
            )}
          </span>
          <span className="figure">{formatBytes(peakReservedBytes)}</span>
          {/* A run that ran out of memory saves nothing. */}
          {recordedBytes !== undefined && ooms.count === 0 && (
            <Difference bytes={peakReservedBytes - recordedBytes} />
          )}
        </div>
      </td>
      {card === undefined ? (
        <td className="figure dim">…</td>
      ) : (
        <td className="figure" title={cardTitle(card)}>
          {cardText(card)}
          {card.retries > 0 && <span className="whatif-slow"> slow</span>}
        </td>
      )}
      <td className="figure" data-tone={ooms.count > 0 ? 'danger' : undefined} title={ooms.title}>
        {ooms.isMore && '≥ '}
        {formatCount(ooms.count)}
      </td>
      <td className="figure">{formatCount(retries)}</td>
      <td
        className="figure"
        title={`${formatCount(deviceAllocs)} to get memory, ${formatCount(deviceFrees)} to give it back`}
      >
        {formatCount(deviceAllocs + deviceFrees)}
      </td>
      {children}
    </>
  );
}

/** A simulated run ends at the first OOM that the recording did not have: there may be more. */
function oomsOf({ ooms }: RecordedRun | WhatIfResult) {
  if (typeof ooms === 'number') return { count: ooms, isMore: false, title: undefined };
  const last = ooms.at(-1);
  return {
    count: ooms.length,
    isMore: last?.isRecorded === false,
    title: last && `Out of memory ${failureText(last)}`,
  };
}

function Difference({ bytes }: { readonly bytes: number }) {
  if (bytes === 0) return <span className="figure dim">the same</span>;
  return (
    <span className="figure" data-tone={bytes > 0 ? 'danger' : 'good'}>
      {bytes > 0 ? '+' : '−'}
      {formatBytes(Math.abs(bytes))}
    </span>
  );
}
