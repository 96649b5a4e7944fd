/** Texts of a state: what a group is, what empty_cache() would free, why a request did not fit. */

import type { ReleaseSums } from '../../../allocator/state/empty-cache.ts';
import { SegmentKind } from '../../../allocator/state/types.ts';
import { formatBytes, formatDurationUs, formatPercent, plural } from '../../../base/format.ts';
import type { SegmentRow, StateOverview } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentGroup, SpaceTotals } from '../../../device/allocator-state/segment-groups.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';

/** 'Large pool', 'Private pool (1, 0), small, expandable' */
export function groupName({ kind, isSmall, privatePool }: SegmentGroup): string {
  const size = isSmall ? 'small' : 'large';
  if (kind === SegmentKind.None) return `In an unknown segment, ${size}`;
  const pool =
    privatePool === undefined
      ? `${isSmall ? 'Small' : 'Large'} pool`
      : `Private pool ${privatePool}, ${size}`;
  return kind === SegmentKind.Expandable ? `${pool}, expandable` : pool;
}

export function groupTerms({ privatePool, isSmall, stream }: SegmentGroup): string {
  const pool =
    privatePool === undefined ? searchTerm('pool', 'default') : searchTerm('pool', privatePool);
  return [pool, searchTerm('pool', isSmall ? 'small' : 'large'), searchTerm('stream', stream)].join(
    ' ',
  );
}

/** '73%'; '' if nothing is reserved. */
export function usedText(usedBytes: number, sizeBytes: number): string {
  if (sizeBytes === 0) return '';
  return formatPercent(usedBytes / sizeBytes, 0);
}

/** Time since a segment was mapped; 'unknown' if that was before the recording. */
export function ageText({ mappedEvent, ageUs }: SegmentRow, event: number): string {
  if (mappedEvent < 0) return 'unknown';
  return Number.isNaN(ageUs) ? plural(event - mappedEvent, 'event') : formatDurationUs(ageUs);
}

/** '3.20 GiB' of rounding, and how much is unknown. */
export function roundingText({
  roundingBytes,
  unknownBytes,
}: Pick<SpaceTotals, 'roundingBytes' | 'unknownBytes'>): string {
  const known = formatBytes(roundingBytes);
  return unknownBytes === 0 ? known : `${known}, unknown for ${formatBytes(unknownBytes)}`;
}

export function releaseSentence(release: ReleaseSums, totals: SpaceTotals): string {
  const { releasedBytes, releasedSegments, releasedPageBytes, awaitedBytes } = release;
  if (totals.reservedBytes === 0) return 'Nothing is reserved, so there is nothing to release.';
  if (releasedBytes === 0) {
    return totals.freeBytes === 0
      ? 'empty_cache() would release nothing: all reserved memory is in use.'
      : 'empty_cache() would release nothing: no segment is completely free.';
  }
  const parts: string[] = [];
  if (releasedSegments > 0) parts.push(plural(releasedSegments, 'whole segment'));
  if (releasedPageBytes === releasedBytes) parts.push('free pages of expandable segments');
  else if (releasedPageBytes > 0) {
    parts.push(`${formatBytes(releasedPageBytes)} of free pages in expandable segments`);
  }
  const share = awaitedBytes === releasedBytes ? 'all' : formatBytes(awaitedBytes);
  const waits =
    awaitedBytes === 0
      ? ''
      : ` For ${share} of it, it would first wait for streams that still use freed blocks.`;
  return `empty_cache() would release ${formatBytes(releasedBytes)}: ${parts.join(' and ')}.${waits}`;
}

/** What it would not free, a sentence for each reason. */
export function keptSentences(release: ReleaseSums): readonly string[] {
  const { pinnedBytes, pinnedSegments, partialPageBytes, privateBytes } = release;
  const sentences: string[] = [];
  if (pinnedBytes > 0) {
    const where = plural(pinnedSegments, 'segment');
    sentences.push(
      `${formatBytes(pinnedBytes)} stays: it lies between live blocks in ${where}, and PyTorch releases a segment only when it is empty.`,
    );
  }
  if (partialPageBytes > 0) {
    sentences.push(
      `${formatBytes(partialPageBytes)} stays: it shares pages of expandable segments with live blocks.`,
    );
  }
  if (privateBytes > 0) {
    sentences.push(
      `${formatBytes(privateBytes)} stays in private pools until their CUDA graph or MemPool is destroyed; the trace does not say when.`,
    );
  }
  return sentences;
}

/** At an OOM, why the request did not fit. Undefined at other events. */
export function oomSentence(device: DeviceInfo, overview: StateOverview): string | undefined {
  const oom = device.ooms.find(({ event }) => event === overview.event);
  if (oom === undefined) return undefined;
  const { freeBytes, largestFreeBytes } = overview.totals;
  const title = oom.wasRetried ? 'Retried, no error' : 'Out of memory';
  const asked = `${title}: ${formatBytes(oom.requestedBytes)} was requested`;
  const free = `${formatBytes(freeBytes)} is free within reserved memory`;
  if (freeBytes < oom.requestedBytes) return `${asked}, and only ${free}.`;
  if (largestFreeBytes < oom.requestedBytes) {
    return `${asked}. ${free}, but in ranges of at most ${formatBytes(largestFreeBytes)}, which is too small.`;
  }
  return `${asked}. A free range of ${formatBytes(largestFreeBytes)} exists, but belongs to another pool or stream, or the settings keep it from being split.`;
}
