/**
 * The comparison in a few sentences: the amount and its causes, the largest first.
 *
 *   Peak +59.77 GiB (+830%): +61.32 GiB of kept autograd graphs from train.py:224 (estimate_loss), 392.16 MiB more
 *   each iteration.
 */
import { formatBytes, formatCount, formatPercent } from '../../base/format.ts';
import { notableBytes, weightOf } from './causes.ts';
import { entryText, lineText, signedBytes } from './change-text.ts';
import type { RunProfile } from './run-profile.ts';
import type { Cause, ComparisonFacts } from './types.ts';

const MAX_CAUSES = 3;
/** Share of the difference: smaller causes are not named. */
const NAMED_SHARE = 0.01;

/** Sentences, the headline first. */
export function verdictOf(facts: ComparisonFacts, causes: readonly Cause[]): [string, ...string[]] {
  const { a, differenceBytes } = facts;
  const notable = notableBytes(facts);
  const moved = facts.sites.reduce((sum, site) => sum + Math.abs(site.differenceBytes), 0);
  // Added bytes and removed bytes are each half of what moved.
  if (Math.max(moved / 2, Math.abs(differenceBytes)) <= notable) return sameText(facts);
  const head =
    Math.abs(differenceBytes) < notable
      ? `${whatText(facts)} is the same within ${formatBytes(notable)}, but ${formatBytes(moved / 2)} are used otherwise`
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
  const bytes = rest.reduce((sum, cause) => sum + cause.bytes, 0);
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
  const total = (side: ComparisonFacts['a']) =>
    side.runs.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  const least = NOTABLE_CHURN * Math.max(total(a), total(b));
  const found = runChanges.find(
    (change) =>
      change.kinds.some((kind) => kind.startsWith('churns')) &&
      Math.abs(change.b.totalBytes - change.a.totalBytes) >= least,
  );
  if (found?.frame === undefined) return [];
  const { allocations: before } = found.a;
  const { allocations: after } = found.b;
  return [
    `Over the run ${lineText(found.frame)} allocates ${formatCount(after)} times in B and ${formatCount(before)} times in A.`,
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

export function caveatsOf(a: RunProfile, b: RunProfile): string[] {
  const both = [
    { name: 'A', side: a },
    { name: 'B', side: b },
  ];
  return [
    ...sameFile(a, b),
    ...otherKind(a, b),
    ...both.flatMap(({ name, side }) => historyOf(name, side)),
    ...stacksOf(a, b),
    ...both.flatMap(({ name, side }) =>
      side.ooms === 0
        ? []
        : [`${name} ran out of memory: its peak is what it got, and not what it needed.`],
    ),
    ...both.flatMap(({ name, side }) => {
      const { partial } = side.file;
      if (partial === undefined) return [];
      return [
        `${name} was read only up to a fault (${partial}): its end is not the end of the run.`,
      ];
    }),
  ];
}

/** Two recordings of the same program would differ in at least a few events. */
function sameFile(a: RunProfile, b: RunProfile): string[] {
  const isSame =
    a.file.name === b.file.name &&
    a.file.bytes === b.file.bytes &&
    a.events === b.events &&
    a.deviceIndex === b.deviceIndex &&
    a.event === b.event;
  return isSame ? ['Both are the same file on the same device, so there is no difference.'] : [];
}

function otherKind(a: RunProfile, b: RunProfile): string[] {
  if (a.kind !== b.kind) {
    return ['One side is a GPU and the other is pinned host memory: only sizes can be compared.'];
  }
  if (a.device === b.device) return [];
  return [`A is device ${a.device} and B is device ${b.device}.`];
}

function historyOf(name: string, side: RunProfile): string[] {
  if (side.recording === 'none') {
    const hasStacks = side.sites.some(({ stack }) => stack > 0);
    const rest = hasStacks
      ? 'its blocks have call stacks and are compared by them'
      : 'only totals, settings and what was live can be compared, not call sites';
    return [`${name} has no history: it is compared as it was at the end, and ${rest}.`];
  }
  if (side.recording === 'complete') return [];
  const before = side.sites
    .filter((site) => site.class === 'before-recording')
    .reduce((sum, { bytes }) => sum + bytes, 0);
  if (before === 0) return [];
  const share = Math.round((100 * before) / Math.max(1, side.counters.allocatedBytes));
  return [
    `${share}% of ${name}’s memory is from before the recording and has no call site: it is a part of its own.`,
  ];
}

function stacksOf(a: RunProfile, b: RunProfile): string[] {
  if (a.hasCpp === b.hasCpp || a.events === 0 || b.events === 0) return [];
  const [name, other] = a.hasCpp ? ['A', 'B'] : ['B', 'A'];
  return [
    `${name} was recorded with C++ frames and ${other} without: what the backward pass allocates is compared by class.`,
  ];
}
