/**
 * The comparison in a few sentences: how much, at which lines, and what the pattern of the changes fits.
 *
 *   Peak +3.10 GiB (+42%): 2.90 GiB of it at model.py:42 and :57. Activations at the same 42 lines are twice as
 *   large: the batch or the sequence is twice as large.
 */
import { formatBytes, formatCount, formatPercent, plural } from '../base/format.ts';
import {
  type ChangedPlace,
  changedPlaces,
  lineText,
  placesText,
  signedBytes,
} from './change-text.ts';
import { patternsOf } from './patterns.ts';
import type { ComparisonFacts } from './types.ts';

/** Less is noise: another order of frees, a rounded block. */
const NOTABLE_BYTES = 2 ** 20;
const NOTABLE_SHARE = 0.001;
/** Lines are named until they hold so much of the difference, or there are so many. */
const ENOUGH_SHARE = 0.9;
const MAX_LINES = 3;
const MAX_PATTERNS = 3;

export function verdictOf(facts: ComparisonFacts): string {
  const { a, differenceBytes } = facts;
  const notable = Math.max(NOTABLE_BYTES, NOTABLE_SHARE * a.counters.allocatedBytes);
  const moved = facts.sites.reduce((sum, site) => sum + Math.abs(site.differenceBytes), 0);
  // What came and what went are each half of what moved.
  if (Math.max(moved / 2, Math.abs(differenceBytes)) <= notable) return sameText(facts);
  const patterns = patternsOf(facts).slice(0, MAX_PATTERNS);
  const isSmall = Math.abs(differenceBytes) < notable;
  const head = isSmall
    ? `${whatText(facts)} is the same within ${formatBytes(notable)}, but ${formatBytes(moved / 2)} are used otherwise`
    : `${whatText(facts)} ${signedBytes(differenceBytes)}${shareText(differenceBytes, a.counters.allocatedBytes)}`;
  const lines = linesText(facts, isSmall ? moved : differenceBytes);
  const [first, ...others] = patterns;
  const cause =
    first ??
    'What changed fits none of the patterns that vramscope knows, so the two files alone do not show the cause.';
  const reserved = reservedText(facts, notable);
  return [`${head}: ${lowerFirst(cause)}`, lines, ...others, ...reserved]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** 'Peak', or what is looked at otherwise. */
function whatText({ a, b }: ComparisonFacts): string {
  const isPeak = [a, b].every(
    ({ counters, peak }) => counters.allocatedBytes === peak.allocatedBytes,
  );
  return isPeak ? 'Peak' : 'Allocated';
}

function sameText(facts: ComparisonFacts): string {
  const { a, differenceBytes, sites } = facts;
  const largest = Math.max(0, ...sites.map((site) => Math.abs(site.differenceBytes)));
  const bytes = formatBytes(a.counters.allocatedBytes);
  const head =
    differenceBytes === 0 && largest === 0
      ? `No difference: both have ${bytes} at the ${whatText(facts) === 'Peak' ? 'peak' : 'same moment'}, from the same call sites.`
      : `No change above ${formatBytes(NOTABLE_BYTES)}: ${whatText(facts).toLowerCase()} ${bytes} (${signedBytes(differenceBytes)}).`;
  return [head, ...churnText(facts), ...reservedText(facts, NOTABLE_BYTES)].join(' ');
}

/** Less of all that is allocated over the run is no churn to speak of. */
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

/** Where allocated is the same, reserved says whether the allocator served it otherwise. */
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

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/** 'Most of it, 2.90 GiB, is at model.py:42 and :57.' */
function linesText({ sites }: ComparisonFacts, total: number): string {
  const sorted = changedPlaces(sites)
    .filter(({ bytes }) => Math.sign(bytes) === Math.sign(total))
    .sort((x, y) => Math.abs(y.bytes) - Math.abs(x.bytes));
  const named: ChangedPlace[] = [];
  let bytes = 0;
  for (const line of sorted) {
    if (named.length === MAX_LINES || Math.abs(bytes) >= ENOUGH_SHARE * Math.abs(total)) break;
    named.push(line);
    bytes += line.bytes;
  }
  if (named.length === 0) return '';
  const rest = sorted.length - named.length;
  const more =
    rest > 0 && Math.abs(bytes) < ENOUGH_SHARE * Math.abs(total)
      ? `, the most of ${plural(sorted.length, 'line')}`
      : '';
  return `${signedBytes(bytes)} are at ${placesText(named)}${more}.`;
}
