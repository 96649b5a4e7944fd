/**
 * The difference of two accounts as causes, ordered by the bytes that each explains. Every entry that differs is in
 * exactly one cause: kept or growing memory is its own cause, other entries share an explanation, and the rest are
 * unexplained.
 */
import { formatBytes } from '../../base/format.ts';
import { groupBy } from '../../base/grouping.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import {
  changedLike,
  changedLines,
  entryName,
  entryText,
  OWN_STORY,
  signedBytes,
} from './change-text.ts';
import { explanationsOf, oneSidedText } from './patterns.ts';
import type { Cause, ComparisonFacts, EntryChange } from './types.ts';

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
  const own = changed.filter(({ kind }) => OWN_STORY.has(kind));
  const groups = groupBy(
    changed.filter(({ kind }) => !OWN_STORY.has(kind)),
    whyOf,
  );
  const rest = groups.get(undefined) ?? [];
  groups.delete(undefined);
  const explained = [
    ...own.map((entry) => causeOf([entry], true, ownText(entry))),
    ...Array.from(groups, ([why, group]) => causeOf(group, true, `${partsText(group)}${why}`)),
  ];
  const most = Math.max(0, ...explained.map(weightOf));
  const code = rest.some((entry) => weightOf({ entries: [entry] }) > most) && oneSidedText(facts);
  const others =
    typeof code === 'string'
      ? [causeOf(rest, true, `${partsText(rest)}${code}`)]
      : rest.map((entry) => causeOf([entry], false, unexplainedText(facts, entry)));
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

const causeOf = (entries: readonly EntryChange[], isExplained: boolean, text: string): Cause => ({
  ...{ entries, isExplained, text },
  bytes: entries.reduce((sum, { differenceBytes }) => sum + differenceBytes, 0),
});

/** The bytes added or the bytes removed, whichever is more: their sum may be 0. */
export function weightOf({ entries }: Pick<Cause, 'entries'>): number {
  const sum = (sign: number) =>
    entries.reduce((total, { differenceBytes }) => total + Math.max(0, sign * differenceBytes), 0);
  return Math.max(sum(1), sum(-1));
}

/** '+61.32 GiB of kept autograd graphs from train.py:224 (estimate_loss), 392.16 MiB more each iteration'. */
function ownText(entry: EntryChange): string {
  const { kind, rate, differenceBytes } = entry;
  const [, caller] = entry.lines;
  const isKept = kind === 'kept' || kind === 'kept-graph';
  const by = isKept && caller !== undefined ? `, called from ${frameLabel(caller)}` : '';
  const where = differenceBytes < 0 ? ' in A' : '';
  const more =
    rate === undefined ? '' : `, ${formatBytes(rate.bytes)} more each ${rate.unit}${where}`;
  return `${signedBytes(differenceBytes)} of ${entryName(entry)}${by}${more}`;
}

/** The largest entries: '-81.36 MiB of optimizer state, -40.00 MiB of gradients: '. */
function partsText(entries: readonly EntryChange[]): string {
  const least = NAMED_SHARE * weightOf({ entries });
  const named = entries.filter((entry) => weightOf({ entries: [entry] }) >= least);
  return `${named.slice(0, MAX_NAMED).map(entryText).join(', ')}: `;
}

/** '+728.03 MiB of temporaries, at pairs.py:87, which only B keeps'. */
function unexplainedText(facts: ComparisonFacts, entry: EntryChange): string {
  const { kind, differenceBytes } = entry;
  const sites = changedLike(facts, CLASSES_OF[kind] ?? [kind], differenceBytes);
  const lines = changedLines(sites);
  if (lines === '') return entryText(entry);
  const only = sites.filter((site) => site.kind === (differenceBytes > 0 ? 'only-b' : 'only-a'));
  const onlyBytes = only.reduce((sum, site) => sum + Math.abs(site.differenceBytes), 0);
  const isOnly = onlyBytes >= 0.5 * Math.abs(differenceBytes) && changedLines(only) !== '';
  const side = differenceBytes > 0 ? 'B' : 'A';
  const where = isOnly ? `${changedLines(only)}, which only ${side} keeps` : lines;
  return `${entryText(entry)}, at ${where}`;
}

/** Kinds whose classes have other names. */
const CLASSES_OF: Partial<Record<EntryChange['kind'], readonly string[]>> = {
  'kv-cache': ['growing-state'],
  unknown: ['unknown', 'before-recording'],
};
