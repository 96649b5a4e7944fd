/**
 * Which rank ran out of memory first. Clocks of hosts differ by more than a step takes, so steps are compared:
 * the ranks of a job are in the same one at any time, as they wait for each other.
 */
import { plural } from '../base/format.ts';
import type { RankSummary } from '../summary-file/types.ts';
import type { FailureReport } from './types.ts';

interface Failed {
  readonly rank: number;
  readonly summary: RankSummary;
  readonly step: number | null;
}

export function failureReport(
  ranks: readonly { readonly rank: number; readonly summary: RankSummary }[],
): FailureReport {
  const failed = ranks.flatMap(({ rank, summary }): Failed[] => {
    const oom = summary.ooms.find(({ wasRetried }) => !wasRetried);
    return oom === undefined ? [] : [{ rank, summary, step: comparableStep(summary, oom.step) }];
  });
  const inOrder = failed.toSorted((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity));
  const listed = inOrder.map(({ rank, step }) => ({ rank, step }));
  if (failed.length === 0) return { failed: listed, first: [], text: '' };
  const unknown = failed.filter(({ step }) => step === null);
  if (failed.length > 1 && unknown.length > 0) {
    const text = `${ranksText(failed)} ran out of memory. We can't tell which was first: ${unknownReason(unknown)}.`;
    return { failed: listed, first: [], text };
  }
  const [{ step }] = inOrder;
  const first = inOrder.filter((one) => one.step === step).map(({ rank }) => rank);
  return { failed: listed, first, text: firstText(inOrder, first, step) };
}

/** A step's number counts from the start of the recording: of one that began late it is the recording's own. */
function comparableStep({ recording }: RankSummary, step: number | null): number | null {
  return recording === 'complete' ? step : null;
}

function unknownReason(unknown: readonly Failed[]): string {
  const late = unknown.filter(({ summary }) => summary.recording !== 'complete');
  return late.length > 0
    ? `the recording of ${ranksText(late)} does not reach back to the start`
    : `${ranksText(unknown)} ${unknown.length === 1 ? 'has' : 'have'} no steps to compare`;
}

function firstText(
  inOrder: readonly Failed[],
  first: readonly number[],
  step: number | null,
): string {
  // Programs number their steps from 0 or from 1: how many were whole is the same for both.
  const when = step === null ? '' : ` after ${plural(step, 'whole step')}`;
  if (inOrder.length === 1) return `Only rank ${first[0]} ran out of memory${when}.`;
  const rest = inOrder.length - first.length;
  const later = rest === 0 ? '' : `; ${plural(rest, 'rank')} followed in later steps`;
  if (first.length === 1) return `Rank ${first[0]} ran out of memory first${when}${later}.`;
  return `${plural(first.length, 'rank')} ran out of memory${when}${later}: ${numbersText(first)}. We can't tell the order within a step, as hosts' clocks differ.`;
}

const ranksText = (failed: readonly Failed[]): string =>
  `${failed.length === 1 ? 'Rank' : 'Ranks'} ${numbersText(failed.map(({ rank }) => rank))}`;

/** '0–3, 7, 9': of more than eight stretches the first eight. */
export function numbersText(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const number of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && number <= last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const texts = runs.map(([from, to]) => {
    if (from === to) return `${from}`;
    return to === from + 1 ? `${from}, ${to}` : `${from}–${to}`;
  });
  return texts.length <= 8 ? texts.join(', ') : `${texts.slice(0, 8).join(', ')}, …`;
}
