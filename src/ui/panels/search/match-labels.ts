/** What a search found, in words. */
import { formatBytes, formatCount } from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/types.ts';
import type { SearchSummary } from '../../../worker/handlers/search.ts';

/** Bytes where the reader looks: at the cursor, else at the peak; without a trace there is but the end. */
export function matchBytes(
  { cursorBytes, peakBytes, endBytes }: SearchSummary,
  { events }: DeviceInfo,
): string {
  if (events === 0) return `${formatBytes(endBytes)} at the end`;
  return cursorBytes === undefined
    ? `${formatBytes(peakBytes)} at the peak`
    : `${formatBytes(cursorBytes)} at the cursor`;
}

/** All figures, for the title. */
export function matchTitle(summary: SearchSummary, allocations: number): string {
  const { count, blockBytes, requestedBytes, requestedUnknown } = summary;
  const { peakBytes, endBytes, cursorBytes } = summary;
  const unknown = requestedUnknown === 0 ? '' : ` (unknown for ${formatCount(requestedUnknown)})`;
  return [
    `${formatCount(count)} of ${formatCount(allocations)} allocations match`,
    ...(cursorBytes === undefined ? [] : [`${formatBytes(cursorBytes)} at the cursor`]),
    `${formatBytes(peakBytes)} at the peak`,
    `${formatBytes(endBytes)} at the end`,
    `${formatBytes(blockBytes)} added up over time`,
    `${formatBytes(requestedBytes)} of that requested${unknown}`,
  ].join('\n');
}

/** Why nothing matches: the terms that match nothing on their own, or that only together they exclude all. */
export function emptyReasons({ terms }: SearchSummary): readonly string[] {
  const alone = terms.filter(({ count }) => count === 0);
  if (alone.length > 0) {
    return alone.map(({ text, note }) => `${clip(text)} matches nothing.${note ? ` ${note}` : ''}`);
  }
  const each = terms.map(({ text, count }) => `${clip(text)} (${formatCount(count)})`);
  return [`Each term matches some allocations, but none matches all terms: ${each.join(', ')}.`];
}

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
