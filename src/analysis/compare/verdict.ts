/**
 * The comparison in a few sentences: the amount and its causes, the largest first.
 *
 *   Peak +59.77 GiB (+830%): +61.32 GiB of kept autograd graphs from train.py:224 (estimate_loss), 392.16 MiB more
 *   each iteration.
 */

import { sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount, formatPercent } from '../../base/format.ts';
import { vendorName } from '../../device/model/vendors.ts';
import { notableBytes, weightOf } from './causes.ts';
import { entryText, lineText, signedBytes } from './change-text.ts';
import type { Cause, ComparisonFacts, RunProfile } from './types.ts';

const MAX_CAUSES = 3;
/** Share of the difference: smaller causes are not named. */
const NAMED_SHARE = 0.01;

/** Sentences, the headline first. */
export function verdictOf(facts: ComparisonFacts, causes: readonly Cause[]): [string, ...string[]] {
  const { a, differenceBytes } = facts;
  const notable = notableBytes(facts);
  const moved = sumBy(facts.sites, (site) => Math.abs(site.differenceBytes));
  // Added bytes and removed bytes are each half of what moved.
  if (Math.max(moved / 2, Math.abs(differenceBytes)) <= notable) return sameText(facts);
  const head =
    Math.abs(differenceBytes) < notable
      ? `${whatText(facts)} is the same within ${formatBytes(notable)}, but ${formatBytes(moved / 2)} is used differently`
      : `${whatText(facts)} ${signedBytes(differenceBytes)}${shareText(differenceBytes, a.counters.allocatedBytes)}`;
  const named = Math.max(notable, NAMED_SHARE * Math.abs(differenceBytes));
  const shown = causes.filter((cause) => weightOf(cause) > named);
  // If no cause is large enough, name one that several entries share.
  const first = shown[0] ?? causes.find(({ entries }) => entries.length > 1);
  const explained = shown.filter((cause) => cause !== first && cause.isExplained);
  return [
    `${head}: ${headText(first)}.`,
    ...explained.slice(0, MAX_CAUSES - 1).map(({ text }) => `${text}.`),
    ...restText(causes, first, named),
    ...reservedText(facts, notable),
  ];
}

function headText(first: Cause | undefined): string {
  if (first === undefined) return 'the same kinds of memory come from other lines';
  return first.isExplained ? first.text : `${first.text}; the two files alone do not show why`;
}

/** 'Not explained: +8.20 MiB (+12.00 MiB of temporaries, -3.80 MiB of inputs).' */
function restText(causes: readonly Cause[], first: Cause | undefined, least: number): string[] {
  const rest = causes.filter((cause) => cause !== first && !cause.isExplained);
  const named = rest.filter((cause) => weightOf(cause) > least).slice(0, MAX_CAUSES);
  if (named.length === 0) return [];
  const bytes = sumBy(rest, (cause) => cause.bytes);
  const parts = named.flatMap(({ entries }) => entries.map(entryText)).join(', ');
  const head = first?.isExplained === false ? 'Not explained either' : 'Not explained';
  return [`${head}: ${rest.length === 1 ? parts : `${signedBytes(bytes)} (${parts})`}.`];
}

function whatText({ a, b }: ComparisonFacts): string {
  const isPeak = [a, b].every(
    ({ counters, peak }) => counters.allocatedBytes === peak.allocatedBytes,
  );
  return isPeak ? 'Peak' : 'Allocated';
}

function sameText(facts: ComparisonFacts): [string, ...string[]] {
  const { a, differenceBytes, sites } = facts;
  const notable = notableBytes(facts);
  const largest = Math.max(0, ...sites.map((site) => Math.abs(site.differenceBytes)));
  const bytes = formatBytes(a.counters.allocatedBytes);
  const head =
    differenceBytes === 0 && largest === 0
      ? `No difference: both have ${bytes} at the ${whatText(facts) === 'Peak' ? 'peak' : 'same moment'}, from the same call sites.`
      : `No change above ${formatBytes(notable)}: ${whatText(facts).toLowerCase()} ${bytes} (${signedBytes(differenceBytes)}).`;
  return [head, ...churnText(facts), ...reservedText(facts, notable)];
}

/** Share of all bytes allocated over the run: less churn is not worth mentioning. */
const NOTABLE_CHURN = 0.01;

function churnText({ a, b, runChanges }: ComparisonFacts): string[] {
  const total = ({ runs }: RunProfile) => sumBy(runs, ({ totalBytes }) => totalBytes);
  const least = NOTABLE_CHURN * Math.max(total(a), total(b));
  const found = runChanges.find(
    (change) =>
      change.kinds.some((kind) => kind.startsWith('churns')) &&
      Math.abs(change.b.totalBytes - change.a.totalBytes) >= least,
  );
  if (found?.frame === undefined) return [];
  const [before, after] = [found.a, found.b].map(({ allocations }) => formatCount(allocations));
  return [
    `Over the run ${lineText(found.frame)} allocates ${after} times in B and ${before} times in A.`,
  ];
}

/** If allocated bytes are equal, reserved bytes show whether the allocator behaved differently. */
function reservedText({ a, b, differenceBytes }: ComparisonFacts, notable: number): string[] {
  const reserved = b.peak.reservedBytes - a.peak.reservedBytes;
  if (Math.abs(differenceBytes) >= notable || Math.abs(reserved) < 0.02 * a.peak.reservedBytes)
    return [];
  return [
    `The peak of reserved memory differs by ${signedBytes(reserved)}: that is caching and fragmentation, or the settings.`,
  ];
}

function shareText(bytes: number, of: number): string {
  if (of === 0) return '';
  return ` (${bytes < 0 ? '-' : '+'}${formatPercent(Math.abs(bytes) / of, 0)})`;
}

/** Limits of the comparison: different devices, no history, a part of a file, the same file. */
export function caveatsOf(a: RunProfile, b: RunProfile): string[] {
  const ofBoth = (textOf: (side: RunProfile, name: string) => string | undefined) => [
    textOf(a, 'A'),
    textOf(b, 'B'),
  ];
  const texts = [
    isSameMoment(a, b)
      ? 'Both are the same file on the same device, so there is no difference.'
      : undefined,
    otherDevice(a, b),
    ...ofBoth(historyOf),
    stacksOf(a, b),
    ...ofBoth(({ ooms }, name) =>
      ooms === 0
        ? undefined
        : `${name} ran out of memory: its peak is what it got, and not what it needed.`,
    ),
    ...ofBoth(({ file: { partial } }, name) =>
      partial === undefined
        ? undefined
        : `${name} was read only up to its damage (${partial}): its end is not the end of the run.`,
    ),
  ];
  return texts.filter((text) => text !== undefined);
}

/** Two recordings of the same program would differ in at least a few events. */
const isSameMoment = (a: RunProfile, b: RunProfile): boolean =>
  a.file.name === b.file.name &&
  a.file.bytes === b.file.bytes &&
  a.events === b.events &&
  a.deviceIndex === b.deviceIndex &&
  a.event === b.event;

function otherDevice(a: RunProfile, b: RunProfile): string | undefined {
  if (a.kind !== b.kind)
    return 'One side is a GPU and the other is pinned host memory: only sizes can be compared.';
  const [ofA, ofB] = [vendorName(a) ?? 'CUDA', vendorName(b) ?? 'CUDA'];
  if (ofA !== ofB) return `A is of ${ofA} and B of ${ofB}: block sizes may differ for that alone.`;
  return a.device === b.device ? undefined : `A is device ${a.device} and B is device ${b.device}.`;
}

function historyOf({ recording, sites, counters }: RunProfile, name: string): string | undefined {
  if (recording === 'none') {
    const rest = sites.some(({ stack }) => stack > 0)
      ? 'its blocks have call stacks and are compared by them'
      : 'only totals, settings and what was live can be compared, not call sites';
    return `${name} has no history: it is compared as it was at the end, and ${rest}.`;
  }
  const old = sites.filter((site) => site.class === 'before-recording');
  const before = sumBy(old, ({ bytes }) => bytes);
  if (recording === 'complete' || before === 0) return undefined;
  const share = Math.round((100 * before) / Math.max(1, counters.allocatedBytes));
  return `${share}% of ${name}’s memory is from before the recording and has no call site: it is a part of its own.`;
}

function stacksOf(a: RunProfile, b: RunProfile): string | undefined {
  if (a.hasCpp === b.hasCpp || a.events === 0 || b.events === 0) return undefined;
  const [name, other] = a.hasCpp ? ['A', 'B'] : ['B', 'A'];
  return `${name} was recorded with C++ frames and ${other} without: what the backward pass allocates is compared by class.`;
}
