/** `vramscope whatif`: the contract `vramscope.whatif/1`, and as text one table of all runs, the best first. */

import {
  ALIKE_TEXT,
  CONTEXT_BYTES,
  changesNothing,
  environmentLines,
  needsLimit,
  ranked,
  recommended,
  startsOtherwise,
} from '../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../allocator/simulator/recorded-run.ts';
import type { Confidence, WhatIfResult } from '../../allocator/simulator/types.ts';
import type { SmallestLimit } from '../../allocator/simulator/what-if.ts';
import type { WhatIfCase } from '../../allocator/simulator/what-if-runs.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { Writer } from './text.ts';
import {
  MORE_FOLLOWS,
  OTHER_START,
  oomCountText,
  ranOutText,
  whatIfSentence,
} from './what-if-citation.ts';

export interface CaseRun extends WhatIfCase {
  /** If requested. */
  readonly smallest: SmallestLimit | undefined;
}

export interface WhatIfRuns {
  readonly device: number;
  /** Why nothing can be simulated; undefined if it can. */
  readonly unavailable: string | undefined;
  readonly recorded: RecordedRun;
  readonly cases: readonly CaseRun[];
  /** Settings and other requests that were not simulated within `budgetMs`. */
  readonly notSimulated: readonly string[];
  readonly budgetMs: number;
  /** Before per_process_memory_fraction, which is part of a setting; undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** The limit is the one that the recorded run hit, rather than requested. */
  readonly isLimitRecorded: boolean;
  /** The recorded run needs no other setting; as on the page, unless a smaller limit was requested. */
  readonly needsNothing: boolean;
  /** Nobody asked for these settings, so as text those that change nothing are only named. */
  readonly arePresets: boolean;
}

/** `cases` keep the requested order; empty if the file has no trace. */
export const buildWhatIf = (devices: readonly WhatIfRuns[]) => ({
  schema: 'vramscope.whatif/1' as const,
  devices: devices.map(({ device, unavailable, recorded, cases, notSimulated }) => ({
    device,
    ...(unavailable !== undefined && { unavailable }),
    recorded: figures(recorded, recorded.ooms),
    cases: cases.map(({ result, lowestBytes }) => {
      const { settings, ...peaks } = figures(result, result.ooms.length);
      const lowest = lowestBytes !== undefined && { lowestPeakReservedBytes: lowestBytes };
      return { settings, limitBytes: result.limitBytes ?? null, ...peaks, ...lowest };
    }),
    ...(notSimulated.length > 0 && { notSimulated }),
  })),
});

type Run = Pick<
  RecordedRun,
  'settings' | 'peakReservedBytes' | 'peakAllocatedBytes' | 'retriedOoms' | 'retries'
>;

/**
 * `ooms` counts like num_ooms of torch.cuda.memory_stats(). `oomsAskedAgain` counts those retried at once for less,
 * so that the program saw no error; present only if there are any.
 * @param failures that the program saw
 */
function figures(run: Run, failures: number) {
  const { settings, peakReservedBytes, peakAllocatedBytes, retriedOoms, retries } = run;
  const ooms = failures + retriedOoms;
  const known = { settings, peakReservedBytes, peakAllocatedBytes, ooms, retries };
  return retriedOoms > 0 ? { ...known, oomsAskedAgain: retriedOoms } : known;
}

const HEADER = ['settings', 'reserved', 'allocated', 'OOMs', 'retries', 'saved'] as const;

const CONFIDENCE_LABELS: Readonly<Record<Confidence, string>> = {
  high: "High: the allocator's rules alone decide the result.",
  medium: 'Medium: the peaks may shift with facts that the trace does not record.',
  low: 'Low: a run under other settings would have requested other allocations.',
};

export function whatIfText(
  fileName: string,
  devices: readonly WhatIfRuns[],
  note: string | undefined,
  write: Writer,
): string[] {
  return [
    ...write.heading(fileName),
    ...(devices.length === 0 ? ['', 'No device: nothing to simulate.'] : []),
    ...devices.flatMap((runs) => deviceText(runs, write)),
    ...(note === undefined ? [] : ['', note]),
  ];
}

const NO_HISTORY = 'This device has no recorded history, so there is nothing to simulate.';

function deviceText(runs: WhatIfRuns, write: Writer): string[] {
  const { device, recorded, cases, notSimulated } = runs;
  const inOrder = ranked(
    recorded,
    cases.map(({ result }) => result),
  );
  const sorted = [...cases].sort((a, b) => inOrder.indexOf(a.result) - inOrder.indexOf(b.result));
  const [best] = sorted;
  const shown = sorted.filter(
    ({ result }) => !runs.arePresets || !changesNothing(recorded, result),
  );
  const [first, ...rest] = runCells(recorded, formatCount(recorded.ooms));
  const left = notSimulated.length > 0 ? [notSimulatedText(runs)] : [];
  if (best === undefined) {
    const [text = runs.unavailable ?? NO_HISTORY] = left;
    return write.section(`Device ${device}`, write.paragraph(text));
  }
  const hasCards = cases.some(({ smallest }) => smallest !== undefined);
  const messages = shown.flatMap(({ result }) => result.unknowns.map(({ message }) => message));
  const says = [
    ...(shown.some(({ result }) => startsOtherwise(result, recorded)) ? [OTHER_START] : []),
    ...idleText(sorted.filter((one) => !shown.includes(one))),
    ...left,
    ...cases.flatMap(({ result }) => failureText(result)),
    ...adviceText(recommended(recorded, inOrder), runs),
    ...rangeText(best),
    ...cardText(best.smallest, recorded),
    ...limitText(runs),
  ];
  return [
    ...write.section(
      `Device ${device}  ${titleOfLimit(runs)}`,
      write.table([
        [...HEADER, hasCards ? 'needs' : ''],
        [`as recorded: ${first}`, ...rest, '', ''],
        ...shown.map((one) => resultRow(one, recorded)),
      ]),
    ),
    '',
    ...says.flatMap(write.paragraph),
    ...write.section('What the trace does not record:', write.list([...new Set(messages)])),
  ];
}

function titleOfLimit({ limitBytes, isLimitRecorded }: WhatIfRuns): string {
  if (limitBytes === undefined) return 'without a limit';
  const why = isLimitRecorded ? ', which the recorded run hit (--limit none runs without)' : '';
  return `limit ${isLimitRecorded ? 'of at least ' : ''}${formatBytes(limitBytes)}${why}`;
}

const runCells = (run: Run, ooms: string): string[] => [
  settingsName(run.settings),
  formatBytes(run.peakReservedBytes),
  formatBytes(run.peakAllocatedBytes),
  ooms,
  formatCount(run.retries),
];

function resultRow({ result, smallest }: CaseRun, recorded: RecordedRun): string[] {
  const saved = recorded.peakReservedBytes - result.peakReservedBytes;
  const needs = smallest === undefined ? '' : formatBytes(smallest.limitBytes);
  const [name = '', ...cells] = runCells(result, oomCountText(result.ooms));
  const failure = result.ooms.at(-1);
  // A run that ends early needs little: its peaks say nothing.
  if (failure !== undefined)
    return [name, ranOutText(failure), '', ...cells.slice(2), 'fails', needs];
  const mark = startsOtherwise(result, recorded) ? '*' : '';
  const outcome = recorded.ooms > 0 ? 'serves' : formatBytes(saved);
  return [name, ...cells, `${outcome}${mark}`, needs];
}

const settingsName = (settings: string): string => (settings === '' ? '(default)' : settings);

/** Without a limit, options that need one are not even named. */
function idleText(idle: readonly CaseRun[]): string[] {
  const names = idle.flatMap(({ result: { settings, limitBytes } }) =>
    limitBytes === undefined && needsLimit(settings) ? [] : [settingsName(settings)],
  );
  return names.length === 0 ? [] : [`Would make no difference: ${names.join('; ')}.`];
}

function notSimulatedText({ notSimulated, budgetMs }: WhatIfRuns): string {
  const seconds = formatCount(Math.round(budgetMs / 1000));
  return `Not simulated, because the ${seconds} s for this recording were used up: ${notSimulated.join('; ')}. Use --setting to try one at a time.`;
}

/** The setting's first failure that the recorded run did not have. */
function failureText({ settings, ooms }: WhatIfResult): string[] {
  const failure = ooms.find(({ isRecorded }) => !isRecorded);
  if (failure === undefined) return [];
  const { event, requestedBytes, missingBytes } = failure;
  const where = event < 0 ? 'before the trace' : `at event ${formatCount(event)}`;
  return [
    `${settingsName(settings)} runs out of memory ${where}: a request of ${formatBytes(requestedBytes)} takes a limit ${formatBytes(missingBytes)} higher.`,
  ];
}

function adviceText(
  best: WhatIfResult | undefined,
  { recorded, needsNothing }: WhatIfRuns,
): string[] {
  if (best === undefined) return ['No setting tried here fits under this limit.'];
  const saves = best.peakReservedBytes < recorded.peakReservedBytes;
  const isSame = best.settings === recorded.settings;
  const sentence = whatIfSentence(best, recorded);
  if (isSame && recorded.ooms > 0) {
    return [`With this much memory the recorded settings ${sentence}. ${MORE_FOLLOWS}`];
  }
  if (isSame && saves) {
    return [
      `With this much memory the recorded settings ${sentence}. No setting tried here reserves over ${ALIKE_TEXT} less without more retries.`,
    ];
  }
  if (isSame || (recorded.ooms === 0 && !saves)) {
    return [
      `No setting tried here reserves over ${ALIKE_TEXT} less memory than the recorded run without more retries.`,
    ];
  }
  const [line, olderLine] = environmentLines(best.settings);
  return [
    needsNothing ? `No request failed, so this is only an option: ${line}` : `Try first: ${line}`,
    `or ${olderLine} (before PyTorch 2.9)`,
    `It ${sentence}.`,
    `Confidence: ${CONFIDENCE_LABELS[best.confidence]}`,
  ];
}

/** If frees waited for another stream. */
function rangeText({ result, lowestBytes }: CaseRun): string[] {
  if (lowestBytes === undefined) return [];
  return [
    `Some frees waited for another stream. With ${settingsName(result.settings)}, a real run would reserve between ${formatBytes(lowestBytes)} (no waits) and about ${formatBytes(result.peakReservedBytes)} (waits as recorded).`,
  ];
}

function cardText(smallest: SmallestLimit | undefined, { ooms }: RecordedRun): string[] {
  if (smallest === undefined) return [];
  const { limitBytes, cardGib } = smallest;
  const card = cardGib === undefined ? 'no common card' : `a card of ${cardGib} GiB`;
  if (ooms > 0) {
    return [
      `The recorded requests need ${formatBytes(limitBytes)}. What your program would have requested after it ran out of memory is not in the recording, so the card that it needs is unknown.`,
    ];
  }
  return [
    `PyTorch needs ${formatBytes(limitBytes)}, and CUDA itself about ${formatBytes(CONTEXT_BYTES)} more: ${card}.`,
  ];
}

function limitText({ recorded: { limit }, limitBytes }: WhatIfRuns): string[] {
  if (limit === undefined || limitBytes !== undefined) return [];
  return [
    `The recorded run could reserve between ${formatBytes(limit.atLeastBytes)} and ${formatBytes(limit.belowBytes)}: requests failed there. Use --limit to see what would fail under other settings.`,
  ];
}
