import { ascending } from 'd3';
import { Fragment, type ReactNode, useState } from 'react';
import { changesNothing, ranked, startsOtherwise } from '../../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { Confidence, WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { CardFit } from '../../../allocator/simulator/what-if.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import { OTHER_START, ranOutText } from '../../../output/report/what-if-citation.ts';
import type { Sort } from '../../../state/view-store.ts';
import { hasRun, type RunRow, type SettingRow } from '../../panels/what-if/what-if-runs.ts';
import { Button } from '../../shared/buttons.tsx';
import { nextSort, SortHeading } from '../../table/table-row.tsx';
import {
  CONFIDENCE_TEXT,
  callsText,
  cardText,
  cardTitle,
  oomsOf,
  settingName,
  slowText,
} from './runs.tsx';

interface SettingsTableProps {
  readonly recorded: RecordedRun;
  readonly recordedCard: CardFit | undefined;
  /** What the runs may reserve. */
  readonly memory: string;
  readonly rows: readonly SettingRow[];
  /** Undefined: none, because memory runs out under each. */
  readonly chosen: string | undefined;
  /** Settings that the user has chosen. */
  readonly tried: readonly string[];
  readonly onChoose: (settings: string) => void;
}

const CONFIDENCES: readonly Confidence[] = ['low', 'medium', 'high'];

/** What each column sorts by. */
const VALUES: Readonly<Record<string, (row: RunRow) => string | number>> = {
  settings: ({ settings }) => settings,
  reserved: ({ result }) => (result.ooms.length > 0 ? Infinity : result.peakReservedBytes),
  card: ({ card }) => card?.gib ?? Infinity,
  ooms: ({ result }) => result.ooms.length,
  retries: ({ result }) => result.retries,
  calls: ({ result }) => result.deviceAllocs + result.deviceFrees,
  confidence: ({ result }) => CONFIDENCES.indexOf(result.confidence),
};

const HEADINGS = [
  ['settings', 'Setting', 'PYTORCH_ALLOC_CONF'],
  [
    'reserved',
    'Peak reserved',
    'Peak reserved memory; the darker part of a bar is peak allocated memory',
  ],
  [
    'card',
    'Fits on',
    'The smallest common GPU size that would fit all recorded requests, whatever the memory above; slow: only by releasing the whole cache as often as it says, or with so many more calls to the driver, on that GPU',
    'end',
  ],
  ['ooms', 'OOM', 'Recorded requests that run out of memory', 'end'],
  [
    'retries',
    'Retries',
    'How often PyTorch would release its whole cache for one request, served then or not (slow), with the memory above',
    'end',
  ],
  [
    'calls',
    'Driver calls',
    'cudaMalloc and cudaFree; with expandable segments maps and unmaps, of one or more pages each, as num_device_alloc counts them. Each one stalls your program',
    'end',
  ],
  ['confidence', 'Confidence', 'How certain the figures are; the reasons are below'],
].map(([id = '', header = '', title, align]) => {
  return { id, header, title, align: align === 'end' ? align : 'start', isSortable: true } as const;
});

/** Without a sort, the best first. Settings that have not been run come last, in the order in which they will run. */
export function sortRows(
  recorded: RecordedRun,
  rows: readonly SettingRow[],
  sort?: Sort,
): readonly SettingRow[] {
  const value = VALUES[sort?.key ?? ''] ?? (() => 0);
  const sign = sort?.descending ? -1 : 1;
  const run = rows.filter(hasRun).map((row) => ({ ...row.result, card: row.card, row }));
  const sorted = ranked(recorded, run).map(({ row }) => row);
  // Equal values stay in the order of the better.
  return [
    ...sorted.toSorted((a, b) => sign * ascending(value(a), value(b))),
    ...rows.filter((row) => !hasRun(row)),
  ];
}

/** In multiples of the recorded run: one absurd setting must not make all other bars too short to compare. */
const LONGEST_BAR = 2;

export function SettingsTable(props: SettingsTableProps) {
  const { recorded, recordedCard, memory, rows, chosen, tried, onChoose } = props;
  const [sort, setSort] = useState<Sort>();
  const [isWhole, setIsWhole] = useState(false);
  const isIdle = ({ settings, result, card }: SettingRow) =>
    settings !== chosen &&
    !tried.includes(settings) &&
    result !== undefined &&
    changesNothing(recorded, result) &&
    card?.gib === recordedCard?.gib;
  const idle = rows.filter(isIdle).length;
  const sorted = sortRows(recorded, rows, sort);
  const recordedBytes = recorded.peakReservedBytes;
  const highest = Math.max(
    recordedBytes,
    ...rows.map(({ result }) => (result?.ooms.length === 0 ? result.peakReservedBytes : 0)),
  );
  const most = Math.min(highest, recordedBytes * LONGEST_BAR);
  return (
    <table className="whatif-table" aria-label="Settings">
      <caption className="dim">
        Peaks, OOMs, retries and driver calls of the settings are with {memory}
        {rows.some(({ card }) => card && slowText(card, recorded)) &&
          '; what is slow “there”, on that GPU'}
        .
        {rows.some(({ result }) => result && startsOtherwise(result, recorded)) &&
          ` ${OTHER_START}`}
      </caption>
      <thead>
        <tr>
          {HEADINGS.map((heading) => (
            <SortHeading
              key={heading.id}
              column={heading}
              sort={sort}
              onSort={(key) => setSort(nextSort(sort, key, false))}
            />
          ))}
        </tr>
      </thead>
      <tbody>
        <tr className="whatif-recorded">
          <th scope="row">
            As recorded
            {recorded.settings !== '' && <SettingText settings={recorded.settings} />}
          </th>
          <RunCells run={recorded} card={recordedCard} most={most} recorded={recorded}>
            <td className="dim" title="What really happened">
              real
            </td>
          </RunCells>
        </tr>
        {(isWhole ? sorted : sorted.filter((row) => !isIdle(row))).map(
          ({ settings, result, card }) => (
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
                <td className="dim" colSpan={HEADINGS.length - 1}>
                  not tried yet
                </td>
              ) : (
                <RunCells run={result} card={card} most={most} recorded={recorded}>
                  <td
                    title={CONFIDENCE_TEXT[result.confidence]}
                    data-confidence={result.confidence}
                  >
                    {result.confidence}
                  </td>
                </RunCells>
              )}
            </tr>
          ),
        )}
        {idle > 0 && (
          <tr>
            <td className="dim" colSpan={HEADINGS.length}>
              {plural(idle, 'setting')} would make no difference:{' '}
              <Button className="link" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
                {isWhole ? 'hide' : 'show'}
              </Button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
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
  /** The baseline for differences. */
  readonly recorded: RecordedRun;
  readonly children: ReactNode;
}

function RunCells({ run, card, most, recorded, children }: RunCellsProps) {
  const { retries } = run;
  const ooms = oomsOf(run);
  const slow = card && slowText(card, recorded);
  return (
    <>
      <td>
        <PeakCell run={run} most={most} recorded={recorded} />
      </td>
      {card === undefined ? (
        <td className="figure dim">…</td>
      ) : (
        <td className="figure" title={cardTitle(card, recorded)}>
          {cardText(card)}
          {slow !== undefined && <span className="whatif-slow"> {slow}</span>}
        </td>
      )}
      <td className="figure" data-tone={ooms.count > 0 ? 'danger' : undefined} title={ooms.title}>
        {ooms.text}
      </td>
      <td className="figure">{formatCount(retries)}</td>
      <td className="figure" title={callsText(run)}>
        {formatCount(run.deviceAllocs + run.deviceFrees)}
      </td>
      {children}
    </>
  );
}

/** A run that ended early needed little until then: its peak would look better than those of runs that went on. */
function PeakCell({ run, most, recorded }: Omit<RunCellsProps, 'card' | 'children'>) {
  const { peakReservedBytes, peakAllocatedBytes, ooms } = run;
  const failure = typeof ooms === 'number' ? undefined : ooms.at(-1);
  const title = `${formatExactBytes(peakReservedBytes)} reserved, ${formatExactBytes(peakAllocatedBytes)} allocated at the peaks`;
  if (failure !== undefined)
    return (
      <span data-tone="danger" title={`${title} until then`}>
        {ranOutText(failure)}
      </span>
    );
  const recordedBytes = run === recorded ? undefined : recorded.peakReservedBytes;
  const mark = recordedBytes !== undefined && startsOtherwise(run, recorded) ? '*' : '';
  // What a run reserved until it failed is no measure for others.
  const isCompared = recordedBytes !== undefined && recorded.ooms === 0;
  const percent = (bytes: number) => `${most === 0 ? 0 : Math.min(100, (100 * bytes) / most)}%`;
  return (
    <div className="whatif-bar-cell" title={title}>
      <span className="whatif-bar" data-cut={peakReservedBytes > most || undefined} aria-hidden>
        <span className="whatif-bar-reserved" style={{ width: percent(peakReservedBytes) }} />
        <span className="whatif-bar-allocated" style={{ width: percent(peakAllocatedBytes) }} />
        {recordedBytes !== undefined && (
          <span className="whatif-bar-recorded" style={{ left: percent(recordedBytes) }} />
        )}
      </span>
      <span className="figure">
        {formatBytes(peakReservedBytes)}
        {!isCompared && mark}
      </span>
      {isCompared && (
        <Difference bytes={peakReservedBytes - recorded.peakReservedBytes} mark={mark} />
      )}
    </div>
  );
}

function Difference({ bytes, mark }: { readonly bytes: number; readonly mark: string }) {
  if (bytes === 0) return <span className="figure dim">the same</span>;
  return (
    <span className="figure" data-tone={bytes > 0 ? 'danger' : 'good'}>
      {bytes > 0 ? '+' : '−'}
      {formatBytes(Math.abs(bytes))}
      {mark}
    </span>
  );
}
