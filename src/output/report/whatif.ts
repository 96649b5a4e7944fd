/** `vramscope whatif`: the contract `vramscope.whatif/1`, and as text one table of all runs, the best first. */

import { CONTEXT_BYTES, compareRuns, environmentLines } from '../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../allocator/simulator/recorded-run.ts';
import type { Confidence, SimulatedOom, WhatIfResult } from '../../allocator/simulator/types.ts';
import type { SmallestLimit } from '../../allocator/simulator/what-if.ts';
import type { WhatIfCase } from '../../allocator/simulator/what-if-runs.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { printable, styled, type TextOptions, textTable, wrap } from './text.ts';

export interface CaseRun extends WhatIfCase {
  /** If requested. */
  readonly smallest: SmallestLimit | undefined;
}

export interface WhatIfRuns {
  readonly device: number;
  readonly recorded: RecordedRun;
  readonly cases: readonly CaseRun[];
  /** Settings and other requests that were not simulated within `budgetMs`. */
  readonly notSimulated: readonly string[];
  readonly budgetMs: number;
  /** Before per_process_memory_fraction, which is part of a setting; undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** The limit is the one that the recorded run hit, rather than requested. */
  readonly isLimitRecorded: boolean;
}

/** `cases` keep the requested order; empty if the file has no trace. */
export const buildWhatIf = (devices: readonly WhatIfRuns[]) => ({
  schema: 'vramscope.whatif/1' as const,
  devices: devices.map(({ device, recorded, cases, notSimulated }) => ({
    device,
    recorded: figures(recorded, recorded.ooms),
    cases: cases.map(({ result, lowestBytes: lowest }) => {
      const { settings, ...peaks } = figures(result, result.ooms.length);
      const limited = { settings, limitBytes: result.limitBytes ?? null, ...peaks };
      return lowest === undefined ? limited : { ...limited, lowestPeakReservedBytes: lowest };
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
  options: TextOptions,
): string[] {
  const texts = devices.flatMap((runs) => ['', ...deviceText(runs, options)]);
  return [
    styled(printable(fileName), 'bold', options),
    ...(texts.length === 0 ? ['', 'No CUDA device: nothing to simulate.'] : texts),
    ...(note === undefined ? [] : ['', note]),
  ];
}

function deviceText(runs: WhatIfRuns, options: TextOptions): string[] {
  const { device, recorded, cases } = runs;
  const title = styled(`Device ${device}`, 'bold', options);
  if (cases.length === 0 && runs.notSimulated.length === 0) {
    return [title, 'This device has no recorded history, so there is nothing to simulate.'];
  }
  const results = cases.map(({ result }) => result);
  const sorted = [...cases].sort((a, b) => compareRuns(a.result, b.result));
  const hasCards = cases.some(({ smallest }) => smallest !== undefined);
  const [header, ...rows] = textTable([
    [...HEADER, hasCards ? 'needs' : ''],
    recordedRow(recorded),
    ...sorted.map((one) => resultRow(one, recorded)),
  ]);
  const [best] = sorted;
  if (best === undefined) return [title, ...notSimulatedText(runs, options)];
  return [
    `${title}  ${titleOfLimit(runs)}`,
    '',
    styled(header, 'dim', options),
    ...rows,
    '',
    ...notSimulatedText(runs, options),
    ...failureText(results, options),
    ...adviceText(best.result, recorded, options),
    ...rangeText(best, options),
    ...cardText(best.smallest, options),
    ...limitText(runs, options),
    ...unknownsText(results, options),
  ];
}

function titleOfLimit({ limitBytes, isLimitRecorded }: WhatIfRuns): string {
  if (limitBytes === undefined) return 'without a limit';
  const why = isLimitRecorded ? ', which the recorded run hit (--limit none runs without)' : '';
  return `limit ${formatBytes(limitBytes)}${why}`;
}

const recordedRow = (recorded: RecordedRun): string[] => [
  `as recorded: ${settingsName(recorded.settings)}`,
  formatBytes(recorded.peakReservedBytes),
  formatBytes(recorded.peakAllocatedBytes),
  formatCount(recorded.ooms),
  formatCount(recorded.retries),
  '',
  '',
];

function resultRow({ result, smallest }: CaseRun, recorded: RecordedRun): string[] {
  const saved = recorded.peakReservedBytes - result.peakReservedBytes;
  return [
    settingsName(result.settings),
    formatBytes(result.peakReservedBytes),
    formatBytes(result.peakAllocatedBytes),
    formatCount(result.ooms.length),
    formatCount(result.retries),
    result.ooms.length > 0 ? 'fails' : formatBytes(saved),
    smallest === undefined ? '' : formatBytes(smallest.limitBytes),
  ];
}

function settingsName(settings: string): string {
  return settings === '' ? '(default)' : printable(settings);
}

function notSimulatedText(
  { notSimulated, budgetMs }: WhatIfRuns,
  { columns }: TextOptions,
): string[] {
  if (notSimulated.length === 0) return [];
  const names = printable(notSimulated.join('; '));
  const text = `Not simulated, because the ${formatCount(Math.round(budgetMs / 1000))} s for this recording were used up: ${names}. Use --setting to try one at a time.`;
  return [...wrap(text, columns), ''];
}

/** For each setting, its first failure that the recorded run did not have. */
function failureText(results: readonly WhatIfResult[], { columns }: TextOptions): string[] {
  const lines = results.flatMap((result) => {
    const failure = result.ooms.find(({ isRecorded }) => !isRecorded);
    return failure === undefined ? [] : wrap(failureLine(result.settings, failure), columns, '  ');
  });
  return lines.length === 0 ? [] : [...lines, ''];
}

function failureLine(settings: string, failure: SimulatedOom): string {
  const where = failure.event < 0 ? 'before the trace' : `at event ${formatCount(failure.event)}`;
  return `${settingsName(settings)} runs out of memory ${where}: a request of ${formatBytes(failure.requestedBytes)} is short by ${formatBytes(failure.missingBytes)}.`;
}

function adviceText(best: WhatIfResult, recorded: RecordedRun, options: TextOptions): string[] {
  if (best.ooms.length > 0) return ['No setting tried here fits under this limit.'];
  const saved = recorded.peakReservedBytes - best.peakReservedBytes;
  if (saved <= 0 || best.settings === recorded.settings) {
    return ['No setting tried here reserves less memory than the recorded run.'];
  }
  const [line, olderLine] = environmentLines(best.settings);
  return [
    `Best: ${styled(printable(line), 'bold', options)}`,
    `      ${printable(olderLine)} (before PyTorch 2.9)`,
    `Confidence: ${CONFIDENCE_LABELS[best.confidence]}`,
  ];
}

function rangeText({ result, lowestBytes }: CaseRun, { columns }: TextOptions): string[] {
  if (lowestBytes === undefined) return [];
  const { settings, peakReservedBytes } = result;
  const text = `Some frees waited for another stream. With ${settingsName(settings)}, a real run would reserve between ${formatBytes(lowestBytes)} (no waits) and about ${formatBytes(peakReservedBytes)} (waits as recorded).`;
  return wrap(text, columns);
}

function cardText(smallest: SmallestLimit | undefined, { columns }: TextOptions): string[] {
  if (smallest === undefined) return [];
  const { limitBytes, cardGib } = smallest;
  const card = cardGib === undefined ? 'no common card' : `a card of ${cardGib} GiB`;
  const text = `PyTorch needs ${formatBytes(limitBytes)}, and CUDA itself about ${formatBytes(CONTEXT_BYTES)} more: ${card}.`;
  return wrap(text, columns);
}

function limitText({ recorded, limitBytes }: WhatIfRuns, { columns }: TextOptions): string[] {
  const { limit } = recorded;
  if (limit === undefined || limitBytes !== undefined) return [];
  const text = `The recorded run could reserve between ${formatBytes(limit.atLeastBytes)} and ${formatBytes(limit.belowBytes)}: requests failed there. Use --limit to see what would fail under other settings.`;
  return wrap(text, columns);
}

function unknownsText(results: readonly WhatIfResult[], { columns }: TextOptions): string[] {
  const unknowns = results.flatMap((result) => result.unknowns);
  const messages = [...new Set(unknowns.map(({ message }) => message))];
  if (messages.length === 0) return [];
  const lines = messages.flatMap((message) => wrap(`- ${printable(message)}`, columns, '  '));
  return ['', 'What the trace does not record:', ...lines];
}
