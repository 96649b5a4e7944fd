import { ArrowDown, ArrowUp } from 'lucide-react';
import { formatBytes, formatCount, formatExactBytes } from '../../core/base/format.ts';
import { failureText } from '../../core/report/what-if-sentence.ts';
import type { RecordedRun } from '../../core/whatif/recorded-run.ts';
import type { SimulatedOom, WhatIfResult } from '../../core/whatif/types.ts';
import type { CardFit } from '../../engine/analysis/what-if-answer.ts';
import type { RowSort, SettingRow, SortKey } from './setting-rows.ts';
import { CONFIDENCE_TEXT, cardText, cardTitle, settingName } from './texts.ts';

interface SettingsTableProps {
  readonly recorded: RecordedRun;
  readonly recordedCard: CardFit | undefined;
  /** In the order in which they are shown. */
  readonly rows: readonly SettingRow[];
  readonly chosen: string;
  readonly onChoose: (settings: string) => void;
  readonly sort: RowSort | undefined;
  readonly onSort: (sort: RowSort | undefined) => void;
}

interface Column {
  readonly key: SortKey;
  readonly label: string;
  readonly about: string;
  readonly isNumber: boolean;
}

const COLUMNS: readonly Column[] = [
  { key: 'settings', label: 'Setting', about: 'PYTORCH_CUDA_ALLOC_CONF', isNumber: false },
  {
    key: 'reserved',
    label: 'Peak reserved',
    about:
      'Most memory taken of the device; the darker part of a bar is the peak of what was allocated',
    isNumber: false,
  },
  {
    key: 'card',
    label: 'Card',
    about:
      'The smallest common card that would have run all requests, whatever the memory above; slow: only by giving back all cached memory now and then',
    isNumber: true,
  },
  { key: 'ooms', label: 'OOM', about: 'Requests that run out of memory', isNumber: true },
  {
    key: 'retries',
    label: 'Retries',
    about: 'Times that all cached memory is given back for one request: slow',
    isNumber: true,
  },
  {
    key: 'calls',
    label: 'Calls',
    about: 'cudaMalloc and cudaFree, or maps and unmaps: each makes the program wait',
    isNumber: true,
  },
  {
    key: 'confidence',
    label: 'Sure',
    about: 'How sure the figures are; the reasons are below',
    isNumber: false,
  },
];

/** The recorded run, and under it every setting that was tried. */
export function SettingsTable(props: SettingsTableProps) {
  const { recorded, recordedCard, rows, chosen, onChoose, sort, onSort } = props;
  const most = rows.reduce(
    (bytes, { result }) => Math.max(bytes, result?.peakReservedBytes ?? 0),
    recorded.peakReservedBytes,
  );
  return (
    <table className="whatif-table" aria-label="Settings">
      <thead>
        <tr>
          {COLUMNS.map((column) => (
            <SortHeader key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        <RecordedTableRow recorded={recorded} card={recordedCard} most={most} />
        {rows.map((row) => (
          <SettingTableRow
            key={row.settings}
            row={row}
            recordedBytes={recorded.peakReservedBytes}
            most={most}
            isChosen={row.settings === chosen}
            onChoose={onChoose}
          />
        ))}
      </tbody>
    </table>
  );
}

interface SortHeaderProps {
  readonly column: Column;
  readonly sort: RowSort | undefined;
  readonly onSort: (sort: RowSort | undefined) => void;
}

/** Up, down, and back to the best first. */
function SortHeader({ column: { key, label, about, isNumber }, sort, onSort }: SortHeaderProps) {
  const isSorted = sort?.key === key;
  const descending = isSorted && sort.descending;
  const next = descending ? undefined : { key, descending: isSorted };
  const state = descending ? 'descending' : 'ascending';
  return (
    <th
      scope="col"
      className={isNumber ? 'whatif-number' : undefined}
      aria-sort={isSorted ? state : undefined}
    >
      <button type="button" title={about} onClick={() => onSort(next)}>
        {label}
        {isSorted &&
          (descending ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
      </button>
    </th>
  );
}

interface RecordedTableRowProps {
  readonly recorded: RecordedRun;
  readonly card: CardFit | undefined;
  readonly most: number;
}

function RecordedTableRow({ recorded, card, most }: RecordedTableRowProps) {
  return (
    <tr className="whatif-recorded">
      <th scope="row">
        As recorded
        {recorded.settings !== '' && <SettingText settings={recorded.settings} />}
      </th>
      <td>
        <Bar run={recorded} most={most} recordedBytes={undefined} />
      </td>
      <CardCell card={card} />
      <td className="whatif-number" data-tone={recorded.ooms > 0 ? 'danger' : undefined}>
        {formatCount(recorded.ooms)}
      </td>
      <td className="whatif-number">{formatCount(recorded.retries)}</td>
      <CallsCell allocs={recorded.deviceAllocs} frees={recorded.deviceFrees} />
      <td className="dim" title="What really happened">
        real
      </td>
    </tr>
  );
}

interface SettingTableRowProps {
  readonly row: SettingRow;
  readonly recordedBytes: number;
  readonly most: number;
  readonly isChosen: boolean;
  readonly onChoose: (settings: string) => void;
}

function SettingTableRow({ row, recordedBytes, most, isChosen, onChoose }: SettingTableRowProps) {
  const { settings, result, card } = row;
  const name = (
    <th scope="row">
      <label className="whatif-choice">
        <input
          type="radio"
          name="whatif-setting"
          checked={isChosen}
          onChange={() => onChoose(settings)}
        />
        <SettingText settings={settings} />
      </label>
    </th>
  );
  return (
    // For keys there is the radio button in it.
    <tr data-chosen={isChosen || undefined} onClick={() => onChoose(settings)}>
      {name}
      {result === undefined ? (
        <td className="dim" colSpan={COLUMNS.length - 1}>
          not run yet
        </td>
      ) : (
        <ResultCells result={result} card={card} most={most} recordedBytes={recordedBytes} />
      )}
    </tr>
  );
}

interface ResultCellsProps {
  readonly result: WhatIfResult;
  readonly card: CardFit | undefined;
  readonly most: number;
  readonly recordedBytes: number;
}

function ResultCells({ result, card, most, recordedBytes }: ResultCellsProps) {
  return (
    <>
      <td>
        <Bar
          run={result}
          most={most}
          recordedBytes={recordedBytes}
          hasFailed={result.ooms.length > 0}
        />
      </td>
      <CardCell card={card} />
      <OomCell ooms={result.ooms} />
      <td className="whatif-number">{formatCount(result.retries)}</td>
      <CallsCell allocs={result.deviceAllocs} frees={result.deviceFrees} />
      <td title={CONFIDENCE_TEXT[result.confidence]} data-confidence={result.confidence}>
        {result.confidence}
      </td>
    </>
  );
}

/** Breaks between options, not within their names. */
function SettingText({ settings }: { readonly settings: string }) {
  if (settings === '') return <span>{settingName(settings)}</span>;
  const options = settings.split(/(?<=,)/);
  return (
    <code>
      {options.map((option) => (
        <span key={option}>
          {option}
          <wbr />
        </span>
      ))}
    </code>
  );
}

interface BarProps {
  readonly run: { readonly peakReservedBytes: number; readonly peakAllocatedBytes: number };
  readonly most: number;
  /** To say the difference to; undefined for the recorded run itself. */
  readonly recordedBytes: number | undefined;
  /** It ran out of memory: less than recorded is nothing saved. */
  readonly hasFailed?: boolean;
}

function Bar({ run, most, recordedBytes, hasFailed = false }: BarProps) {
  const { peakReservedBytes, peakAllocatedBytes } = run;
  const percent = (bytes: number) => `${most === 0 ? 0 : (100 * bytes) / most}%`;
  const title = `${formatExactBytes(peakReservedBytes)} reserved, ${formatExactBytes(peakAllocatedBytes)} allocated at the peaks`;
  return (
    <div className="whatif-bar-cell" title={title}>
      <span className="whatif-bar" aria-hidden>
        <span className="whatif-bar-reserved" style={{ width: percent(peakReservedBytes) }} />
        <span className="whatif-bar-allocated" style={{ width: percent(peakAllocatedBytes) }} />
        {recordedBytes !== undefined && (
          <span className="whatif-bar-mark" style={{ left: percent(recordedBytes) }} />
        )}
      </span>
      <span className="whatif-bytes">{formatBytes(peakReservedBytes)}</span>
      {recordedBytes !== undefined && !hasFailed && (
        <Difference bytes={peakReservedBytes - recordedBytes} />
      )}
    </div>
  );
}

function Difference({ bytes }: { readonly bytes: number }) {
  if (bytes === 0) return <span className="whatif-difference dim">the same</span>;
  const text = `${bytes > 0 ? '+' : '−'}${formatBytes(Math.abs(bytes))}`;
  return (
    <span className="whatif-difference" data-tone={bytes > 0 ? 'danger' : 'good'}>
      {text}
    </span>
  );
}

function CardCell({ card }: { readonly card: CardFit | undefined }) {
  if (card === undefined) return <td className="whatif-number dim">…</td>;
  return (
    <td className="whatif-number" title={cardTitle(card)}>
      {cardText(card)}
      {card.retries > 0 && <span className="whatif-slow"> slow</span>}
    </td>
  );
}

function OomCell({ ooms }: { readonly ooms: readonly SimulatedOom[] }) {
  const last = ooms.at(-1);
  if (last === undefined) return <td className="whatif-number">0</td>;
  return (
    <td className="whatif-number" data-tone="danger" title={`Out of memory ${failureText(last)}`}>
      {last.isRecorded ? formatCount(ooms.length) : 'fails'}
    </td>
  );
}

function CallsCell({ allocs, frees }: { readonly allocs: number; readonly frees: number }) {
  return (
    <td
      className="whatif-number"
      title={`${formatCount(allocs)} to get memory, ${formatCount(frees)} to give it back`}
    >
      {formatCount(allocs + frees)}
    </td>
  );
}
