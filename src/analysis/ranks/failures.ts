/**
 * Which rank ran out of memory first. Clocks of hosts differ by more than a step takes, so steps are compared:
 * the ranks of a job are in the same one at any time, as they wait for each other.
 */
import { plural } from '../../base/format.ts';
import type { FailureReport, NumberedFile } from './types.ts';

export function failureReport(ranks: readonly NumberedFile[]): FailureReport {
  const failed = ranks
    .flatMap(({ rank, summary }) => {
      const oom = summary.ooms.find(({ wasRetried }) => !wasRetried);
      if (oom === undefined) return [];
      // Steps count from the start of the recording: those of one that began late are its own.
      const isLate = summary.recording !== 'complete';
      return [{ rank, step: isLate ? null : oom.step, isLate }];
    })
    .sort((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity));
  const listed = failed.map(({ rank, step }) => ({ rank, step }));
  if (failed.length === 0) return { failed: [], first: [], text: '' };
  const unknown = failed.filter(({ step }) => step === null);
  if (failed.length > 1 && unknown.length > 0) {
    const late = unknown.filter(({ isLate }) => isLate);
    const why =
      late.length > 0
        ? `the recording of ${ranksText(numbersOf(late))} does not reach back to the start`
        : `${ranksText(numbersOf(unknown))} ${unknown.length === 1 ? 'has' : 'have'} no steps to compare`;
    const text = `${ranksText(numbersOf(failed))} ran out of memory. We can't tell which was first: ${why}.`;
    return { failed: listed, first: [], text };
  }
  const [{ step }] = failed;
  const first = numbersOf(failed.filter((one) => one.step === step));
  return { failed: listed, first, text: firstText(failed.length, first, step) };
}

const numbersOf = (ranks: readonly { readonly rank: number }[]): number[] =>
  ranks.map(({ rank }) => rank);

function firstText(count: number, first: readonly number[], step: number | null): string {
  // Programs number their steps from 0 or from 1: how many were whole is the same for both.
  const when = step === null ? '' : ` after ${plural(step, 'whole step')}`;
  if (count === 1) return `Only rank ${first[0]} ran out of memory${when}.`;
  const rest = count - first.length;
  const later = rest === 0 ? '' : `; ${plural(rest, 'rank')} followed in later steps`;
  if (first.length === 1) return `Rank ${first[0]} ran out of memory first${when}${later}.`;
  return `${plural(first.length, 'rank')} ran out of memory${when}${later}: ${numbersText(first)}. We can't tell the order within a step, as hosts' clocks differ.`;
}

/** 'Rank 3', 'Ranks 0–2, 5' */
export const ranksText = (numbers: readonly number[]): string =>
  `${numbers.length === 1 ? 'Rank' : 'Ranks'} ${numbersText(numbers)}`;

/** '0–3, 7, 9': of more than eight stretches the first eight. */
export function numbersText(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
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
