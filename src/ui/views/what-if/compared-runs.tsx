import { ACCURACY } from '../../../allocator/simulator/confidence.ts';
import {
  ALIKE_TEXT,
  environmentLines,
  startGapBytes,
} from '../../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { EndState, WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { CardFit } from '../../../allocator/simulator/what-if.ts';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatPercent,
  plural,
} from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { MORE_FOLLOWS, whatIfSentence } from '../../../output/report/what-if-citation.ts';
import type { RunRow } from '../../panels/what-if/what-if-runs.ts';
import { Button, CopyButton } from '../../shared/buttons.tsx';
import { useDevice } from '../../shared/services.ts';
import { CONFIDENCE_TEXT, callsText, cardText, cardTitle, oomsOf, settingName } from './runs.tsx';

interface ChosenSettingProps {
  readonly recorded: RecordedRun;
  readonly result: WhatIfResult;
  /** It is the recommended one of all that were tried. */
  readonly isFirst: boolean;
  /** The recorded run needs no other setting. */
  readonly isOptional: boolean;
  /** What the recorded setting reserves under the same limit, if another one than the recorded was chosen. */
  readonly unchangedBytes: number | undefined;
}

interface NothingHelpsProps {
  /** What the runs may reserve. */
  readonly memory: string;
  /** Of the recorded limit: how high it was at least. */
  readonly leastBytes: number | undefined;
}

/** Choosing one of them shows how it fails. */
export function NothingHelps({ memory, leastBytes }: NothingHelpsProps) {
  return (
    <p className="whatif-headline" data-tone="danger">
      <strong>None of the settings tried would have helped:</strong> memory runs out under each,
      with{' '}
      {leastBytes === undefined
        ? memory
        : `a limit of ${formatBytes(leastBytes)}, the least that this process's can have been: try a higher one, too`}
      .
    </p>
  );
}

/** The chosen setting in a sentence, and the line that turns it on. */
export function ChosenSetting(props: ChosenSettingProps) {
  const { recorded, result, isFirst, isOptional, unchangedBytes } = props;
  const { settings, ooms } = result;
  const { device } = useDevice();
  const [line, olderLine] = environmentLines(settings);
  return (
    <section className="whatif-chosen" aria-label="Chosen setting">
      <p className="whatif-headline" data-tone={ooms.length > 0 ? 'danger' : undefined}>
        {isFirst && isOptional && `${noneFailedText(device)}, so this is only an option. `}
        <strong>{settingName(settings)}</strong> {whatIfSentence(result, recorded)}.{' '}
        <span className="dim">
          {aside(recorded, result, isFirst)}
          {unchangedBytes !== undefined && limitAside(recorded, result, unchangedBytes)}
        </span>
      </p>
      {settings === '' ? (
        <p className="dim">This is the default: leave PYTORCH_ALLOC_CONF unset.</p>
      ) : (
        <div className="whatif-lines">
          <EnvironmentLine line={line} note="from PyTorch 2.9 on" />
          <EnvironmentLine line={olderLine} note="the older name, which every version accepts" />
        </div>
      )}
    </section>
  );
}

/** 'No request failed in what is left of the recording' */
const noneFailedText = ({ recording }: DeviceInfo): string =>
  `No request failed${recording === 'complete' ? '' : ' in what is left of the recording'}`;

interface NothingToChangeProps {
  readonly isDone: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** For a run that no setting needs to help, and that none of those tried so far would help notably. */
export function NothingToChange({ isDone, isOpen, onToggle }: NothingToChangeProps) {
  const { device } = useDevice();
  return (
    <p className="whatif-headline">
      <strong>No setting needs changing.</strong> {noneFailedText(device)}
      {isDone &&
        `, and none of the settings tried would reserve over ${ALIKE_TEXT} less without more retries`}
      .{' '}
      <Button className="link" aria-expanded={isOpen} onClick={onToggle}>
        {isOpen ? 'Hide the settings' : 'Compare settings'}
      </Button>
    </p>
  );
}

function aside(recorded: RecordedRun, result: WhatIfResult, isFirst: boolean): string {
  if (result.ooms.length > 0) return '';
  // What a run that broke off reserved is no measure.
  if (recorded.ooms > 0 && result.limitBytes === undefined)
    return 'Without a limit, the default settings serve it too.';
  if (recorded.ooms > 0 && isFirst)
    return result.settings === recorded.settings
      ? MORE_FOLLOWS
      : 'It is the simplest setting that does.';
  if (recorded.ooms > 0) return '';
  const saved = recorded.peakReservedBytes - result.peakReservedBytes;
  const share = recorded.peakReservedBytes === 0 ? 0 : saved / recorded.peakReservedBytes;
  if (isFirst && result.settings === recorded.settings)
    return `None of the settings tried reserves over ${ALIKE_TEXT} less without more retries.`;
  if (saved <= 0) return '';
  const saving = `${formatBytes(saved)} less, ${formatPercent(share)}`;
  const gapBytes = startGapBytes(result, recorded);
  if (gapBytes > 0) {
    const part = saved > gapBytes ? formatBytes(gapBytes) : 'all';
    return `${saving}, of which ${part} may come from that start.`;
  }
  if (!isFirst) return `${saving}.`;
  return `${saving}: the simplest of those that save about the most without more retries.`;
}

/** ' 1.19 GiB of that comes from the limit alone: …', where the recorded setting runs through under it, too. */
function limitAside(recorded: RecordedRun, result: WhatIfResult, unchangedBytes: number): string {
  const saved = recorded.peakReservedBytes - unchangedBytes;
  if (saved <= 0 || result.ooms.length > 0 || result.settings === recorded.settings) return '';
  return ` ${formatBytes(saved)} of that comes from the limit alone: the recorded setting reserves ${formatBytes(unchangedBytes)} under it.`;
}

function EnvironmentLine({ line, note }: { readonly line: string; readonly note: string }) {
  return (
    <div className="row whatif-line">
      <CopyButton text={line} label={line} className="whatif-copy">
        <code>{line}</code>
      </CopyButton>
      <span className="dim">{note}</span>
    </div>
  );
}

interface DetailsProps {
  readonly recorded: RecordedRun;
  readonly recordedCard: CardFit | undefined;
  readonly run: RunRow;
}

export function Details(props: DetailsProps) {
  return (
    <div className="whatif-details">
      <ComparedRuns {...props} />
      <ConfidenceNote {...props} />
    </div>
  );
}

/** What a run's figures assume, and what the trace lacks. */
function ConfidenceNote({ recorded: { requests }, run: { result, lowestBytes } }: DetailsProps) {
  const { confidence, unknowns, peakReservedBytes } = result;
  return (
    <section className="whatif-sure" aria-label="Confidence">
      <h2 className="whatif-heading">
        Confidence: <span data-confidence={confidence}>{confidence}</span>
      </h2>
      <p>
        {CONFIDENCE_TEXT[confidence]} The {formatCount(requests)} requests of the recording
        (allocations, frees, calls of empty_cache()) are run again, in order, through PyTorch’s own
        rules for rounding, splitting, merging and releasing; nothing is estimated. Against{' '}
        {ACCURACY.runs} real runs on an H200 (torch 2.11) under other settings, peak reserved came
        out equal to the byte in {ACCURACY.equalReserved}; in the others, frees waited for another
        stream.
      </p>
      {lowestBytes !== undefined && formatBytes(lowestBytes) !== formatBytes(peakReservedBytes) && (
        <p>
          A real run would reserve between <b>{formatBytes(lowestBytes)}</b>, if no free waited for
          another stream, and about <b>{formatBytes(peakReservedBytes)}</b>, with the waits that
          were recorded.
        </p>
      )}
      {unknowns.length > 0 && (
        <>
          <p>What the trace does not record:</p>
          <ul className="whatif-unknowns">
            {unknowns.map(({ code, message }) => (
              <li key={code}>{message}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

type Cell = readonly [text: string, title?: string];

const bytes = (value: number | undefined): Cell =>
  value === undefined
    ? ['unknown', 'The file has no final segments']
    : [formatBytes(value), formatExactBytes(value)];
const count = (value: number): Cell => [formatCount(value)];
const callsCell = (run: RecordedRun | WhatIfResult): Cell => [
  formatCount(run.deviceAllocs + run.deviceFrees),
  callsText(run),
];
/** A run that ended early needed little until then. */
const peakCell = (value: number, { ooms }: WhatIfResult): Cell =>
  ooms.length === 0
    ? bytes(value)
    : [`${formatBytes(value)} until it failed`, formatExactBytes(value)];
const oomCell = (run: RecordedRun | WhatIfResult): Cell => {
  const { text, title } = oomsOf(run);
  return title === undefined ? [text] : [text, title];
};
function smallest(card: CardFit | undefined, recorded: RecordedRun): Cell {
  if (card === undefined) return ['not searched'];
  const retries = card.retries > 0 ? `, ${plural(card.retries, 'retry', 'retries')} there` : '';
  return [`${cardText(card)}${retries}`, cardTitle(card, recorded)];
}

function ComparedRuns(props: DetailsProps) {
  const { recorded, recordedCard, run } = props;
  const { result, card, lowestBytes } = run;
  const was = recorded.end;
  const is = result.end;
  const lowest = ['… without waiting for streams', [''], bytes(lowestBytes)] as const;
  const rows: readonly (readonly [label: string, before: Cell, after: Cell])[] = [
    [
      'Peak reserved',
      bytes(recorded.peakReservedBytes),
      peakCell(result.peakReservedBytes, result),
    ],
    ...(lowestBytes === undefined ? [] : [lowest]),
    [
      'Peak allocated',
      bytes(recorded.peakAllocatedBytes),
      peakCell(result.peakAllocatedBytes, result),
    ],
    ['Reserved at the start', bytes(recorded.startReservedBytes), bytes(result.startReservedBytes)],
    ['Out of memory', oomCell(recorded), oomCell(result)],
    ['Retries', count(recorded.retries), count(result.retries)],
    ['Calls to the driver', callsCell(recorded), callsCell(result)],
    ['… cudaMalloc', count(recorded.deviceAllocs), count(result.deviceAllocs)],
    ['… cudaFree', count(recorded.deviceFrees), count(result.deviceFrees)],
    ['Reserved at the end', bytes(was?.reservedBytes), bytes(is.reservedBytes)],
    ['Allocated at the end', bytes(was?.allocatedBytes), bytes(is.allocatedBytes)],
    ['Largest free block at the end', bytes(was?.largestFreeBytes), bytes(is.largestFreeBytes)],
    [FREE_AT_END, bytes(was && freeOf(was)), bytes(freeOf(is))],
    ['Smallest GPU', smallest(recordedCard, recorded), smallest(card, recorded)],
  ];
  return (
    <table className="whatif-compared">
      <thead>
        <tr>
          <td />
          <th scope="col">Recorded</th>
          <th scope="col" title={settingName(result.settings)}>
            Chosen
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([label, before, after]) => (
          <tr key={label}>
            <th scope="row" title={ABOUT[label]}>
              {label}
            </th>
            <td title={before[1]}>{before[0]}</td>
            <td title={after[1]}>{after[0]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const FREE_AT_END = 'Cached at the end';
const freeOf = ({ reservedBytes, allocatedBytes }: EndState): number =>
  reservedBytes - allocatedBytes;

const ABOUT: Readonly<Record<string, string>> = {
  '… without waiting for streams':
    'Peak reserved if no free waited for another stream. A real run lies between this and the figure above.',
  'Peak allocated':
    'A block may be larger than its request, by what is too little to split off, which depends on the setting',
  'Reserved at the start':
    'Blocks from before the recording keep the segments that they had, but not under the other kind of segments: then they are allocated anew, with nothing cached between them',
  Retries:
    'How often PyTorch released its whole cache for one request, whether it was served then or not',
  '… cudaMalloc': 'Since the first event; with expandable segments maps, of one or more pages each',
  '… cudaFree': 'Since the first event; with expandable segments unmaps, of one or more pages each',
  'Largest free block at the end': 'The largest request that would fit without new memory',
  'Smallest GPU':
    'The smallest common GPU size on which your program would see no error. cuDNN may choose other algorithms there',
  [FREE_AT_END]: 'Reserved and not allocated: empty segments, and gaps between blocks',
};
