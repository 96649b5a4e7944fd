import './runs.css';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { formatCount } from '../../../base/format.ts';
import type { CardFit } from '../../../worker/analysis/what-if-handler.ts';
import { CONFIDENCE_TEXT } from './labels.ts';
import { Bar, CallsCell, CardCell, OomCell, SettingText } from './setting-cells.tsx';
import type { RowSort, SettingRow, SortKey } from './setting-rows.ts';

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
  { key: 'settings', label: 'Setting', about: 'PYTORCH_ALLOC_CONF', isNumber: false },
  {
    key: 'reserved',
    label: 'Peak reserved',
    about: 'Peak reserved memory; the darker part of a bar is peak allocated memory',
    isNumber: false,
  },
  {
    key: 'card',
    label: 'Fits on',
    about:
      'The smallest common GPU size that would fit all requests, whatever the memory above; slow: only by giving back all cached memory now and then',
    isNumber: true,
  },
  { key: 'ooms', label: 'OOM', about: 'Requests that would run out of memory', isNumber: true },
  {
    key: 'retries',
    label: 'Retries',
    about: 'How often PyTorch would release its whole cache to serve one request (slow)',
    isNumber: true,
  },
  {
    key: 'calls',
    label: 'Calls',
    about: 'Calls of cudaMalloc and cudaFree, or maps and unmaps; each one stalls your program',
    isNumber: true,
  },
  {
    key: 'confidence',
    label: 'Confidence',
    about: 'How certain the figures are; the reasons are below',
    isNumber: false,
  },
];

/** Times the recorded run: one absurd setting must not make all other bars too short to compare. */
const LONGEST_BAR = 2;

/** The recorded run, and under it every setting that was tried. */
export function SettingsTable(props: SettingsTableProps) {
  const { recorded, recordedCard, rows, chosen, onChoose, sort, onSort } = props;
  const highest = rows.reduce(
    (bytes, { result }) => Math.max(bytes, result?.peakReservedBytes ?? 0),
    recorded.peakReservedBytes,
  );
  const most = Math.min(highest, recorded.peakReservedBytes * LONGEST_BAR);
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
      className={isNumber ? 'figure' : undefined}
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
      <td className="figure" data-tone={recorded.ooms > 0 ? 'danger' : undefined}>
        {formatCount(recorded.ooms)}
      </td>
      <td className="figure">{formatCount(recorded.retries)}</td>
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
          not tried yet
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
      <td className="figure">{formatCount(result.retries)}</td>
      <CallsCell allocs={result.deviceAllocs} frees={result.deviceFrees} />
      <td title={CONFIDENCE_TEXT[result.confidence]} data-confidence={result.confidence}>
        {result.confidence}
      </td>
    </>
  );
}
