/**
 * The difference of two accounts as causes, ordered by the bytes that each explains. Every entry that differs is in
 * exactly one cause: kept or growing memory is its own cause, other entries share an explanation, and the rest are
 * unexplained.
 */

import { groupBy, sumBy } from '../../base/collections.ts';
import { formatBytes } from '../../base/format.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import { isKept } from '../account/types.ts';
import { changedLines, entryName, entryText, OWN_STORY, signedBytes } from './change-text.ts';
import { explanationsOf, oneSidedText } from './patterns.ts';
import { changedLike } from './size-patterns.ts';
import type { Cause, Change, ComparisonFacts, EntryChange } from './types.ts';

const MIN_NOTABLE_BYTES = 2 ** 20;
const NOTABLE_SHARE = 0.001;
/** Share of a cause's bytes: smaller entries are not named. */
const NAMED_SHARE = 0.05;
const MAX_NAMED = 3;

export function causesOf(facts: ComparisonFacts): Cause[] {
  const explanations = explanationsOf(facts);
  const whyOf = ({ kind }: EntryChange) =>
    explanations.find(({ kinds }) => kinds.some((one) => one === kind))?.why;
  const changed = facts.entries.filter(({ differenceBytes }) => differenceBytes !== 0);
  const isOwn = ({ kind }: EntryChange) => OWN_STORY.has(kind);
  const groups = groupBy(
    changed.filter((entry) => !isOwn(entry)),
    whyOf,
  );
  const rest = groups.get(undefined) ?? [];
  groups.delete(undefined);
  const explained = [
    ...changed.filter(isOwn).map((entry) => causeOf([entry], true, ownText(entry))),
    ...Array.from(groups, ([why, group]) => causeOf(group, true, `${partsText(group)}${why}`)),
  ];
  const most = Math.max(0, ...explained.map(weightOf));
  const isMain = rest.some((entry) => Math.abs(entry.differenceBytes) > most);
  const code = isMain ? oneSidedText(facts) : undefined;
  const others =
    code === undefined
      ? rest.map((entry) => causeOf([entry], false, unexplainedText(facts, entry)))
      : [causeOf(rest, true, `${partsText(rest)}${code}`)];
  return [...explained, ...others].sort(
    (x, y) => opposes(facts, x) - opposes(facts, y) || weightOf(y) - weightOf(x),
  );
}

/** 1 for a cause of the opposite sign: it explains none of the difference, so it sorts last. */
const opposes = (facts: ComparisonFacts, { bytes }: Cause): number =>
  Math.abs(facts.differenceBytes) >= notableBytes(facts) && bytes * facts.differenceBytes < 0
    ? 1
    : 0;

/** Less is noise: a different order of frees, a rounded block. */
export const notableBytes = ({ a }: Pick<ComparisonFacts, 'a'>): number =>
  Math.max(MIN_NOTABLE_BYTES, NOTABLE_SHARE * a.counters.allocatedBytes);

/** @param text '+1.20 GiB of activations: the batch …', without a period */
export const causeOf = (
  entries: readonly EntryChange[],
  /** False if nothing in the two files says why. */
  isExplained: boolean,
  text: string,
) => ({
  bytes: sumBy(entries, ({ differenceBytes }) => differenceBytes),
  ...{ entries, isExplained, text },
});

/** The bytes added or the bytes removed, whichever is more: their sum may be 0. */
export function weightOf({ entries }: { readonly entries: readonly Change[] }): number {
  const sum = (sign: number) =>
    sumBy(entries, ({ differenceBytes }) => Math.max(0, sign * differenceBytes));
  return Math.max(sum(1), sum(-1));
}

/** '+61.32 GiB of kept autograd graphs from train.py:224 (estimate_loss), 392.16 MiB more each iteration'. */
function ownText(entry: EntryChange): string {
  const { kind, rate, differenceBytes } = entry;
  const [, caller] = entry.lines;
  const by = isKept(kind) && caller !== undefined ? `, called from ${frameLabel(caller)}` : '';
  const where = differenceBytes < 0 ? ' in A' : '';
  const more =
    rate === undefined ? '' : `, ${formatBytes(rate.bytes)} more each ${rate.unit}${where}`;
  return `${signedBytes(differenceBytes)} of ${entryName(entry)}${by}${more}`;
}

/** The largest entries: '-81.36 MiB of optimizer state, -40.00 MiB of gradients: '. */
function partsText(entries: readonly EntryChange[]): string {
  const least = NAMED_SHARE * weightOf({ entries });
  const named = entries.filter(({ differenceBytes }) => Math.abs(differenceBytes) >= least);
  return `${named.slice(0, MAX_NAMED).map(entryText).join(', ')}: `;
}

/** '+728.03 MiB of temporaries, at pairs.py:87, which only B keeps'. */
function unexplainedText(facts: ComparisonFacts, entry: EntryChange): string {
  const { kind, differenceBytes } = entry;
  const sites = changedLike(facts, CLASSES_OF[kind] ?? [kind], differenceBytes);
  const lines = changedLines(sites);
  if (lines === '') return entryText(entry);
  const side = differenceBytes > 0 ? 'B' : 'A';
  const only = sites.filter((site) => site.kind === (side === 'B' ? 'only-b' : 'only-a'));
  const isOnly =
    weightOf({ entries: only }) >= 0.5 * Math.abs(differenceBytes) && changedLines(only) !== '';
  const where = isOnly ? `${changedLines(only)}, which only ${side} keeps` : lines;
  return `${entryText(entry)}, at ${where}`;
}

/** Kinds whose classes have other names. */
const CLASSES_OF: Partial<Record<EntryChange['kind'], readonly string[]>> = {
  'kv-cache': ['growing-state'],
  unknown: ['unknown', 'before-recording'],
};
