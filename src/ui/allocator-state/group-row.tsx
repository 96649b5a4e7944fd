import { ChevronDown, ChevronRight, Filter } from 'lucide-react';
import type { SegmentGroup, SpaceTotals } from '../../core/allocator-state/segment-groups.ts';
import { SegmentKind } from '../../core/allocator-state/types.ts';
import { formatBytes, formatExactBytes, plural } from '../../core/base/format.ts';
import { useStores } from '../../state/stores.ts';
import { BytesCell } from './segment-columns.tsx';
import { groupName, groupTerms, roundingText, usedText } from './state-labels.ts';

interface GroupRowProps {
  readonly group: SegmentGroup;
  readonly isFolded: boolean;
}

/** Head of the segments of one pool and stream, with their sums. */
export function GroupRow({ group, isFolded }: GroupRowProps) {
  const { totals, stream, kind } = group;
  const live = totals.allocatedBytes + totals.pendingBytes;
  const isNone = kind === SegmentKind.None;
  const Chevron = isFolded ? ChevronRight : ChevronDown;
  return (
    <>
      <td className="group-name" title={totalsTitle(totals)}>
        <Chevron size={14} aria-hidden />
        <strong>{groupName(group)}</strong>
        <span className="dim">stream {stream}</span>
        <GroupFilter group={group} />
      </td>
      <BytesCell bytes={isNone ? live : totals.reservedBytes} />
      <td className="cell-number">{usedText(live, totals.reservedBytes)}</td>
      <BytesCell bytes={totals.largestFreeBytes} />
      <td className="cell-wide dim" title={totalsTitle(totals)}>
        {isNone ? noneText(totals) : sharesText(totals)}
      </td>
    </>
  );
}

function GroupFilter({ group }: { readonly group: SegmentGroup }) {
  const { view } = useStores();
  const label = 'Search for the blocks of this pool and stream, in all views';
  return (
    <button
      type="button"
      className="icon-button group-filter"
      aria-label={label}
      title={label}
      onClick={(event) => {
        // The row itself folds.
        event.stopPropagation();
        view.commit({ search: groupTerms(group) });
      }}
    >
      <Filter size={12} aria-hidden />
    </button>
  );
}

/** '12 segments, 1.20 GiB free, 64.00 MiB pending' */
function sharesText({ segments, freeBytes, pendingBytes }: SpaceTotals): string {
  const parts = [plural(segments, 'segment')];
  if (freeBytes > 0) parts.push(`${formatBytes(freeBytes)} free`);
  if (pendingBytes > 0) parts.push(`${formatBytes(pendingBytes)} pending`);
  return parts.join(', ');
}

function noneText({ segments }: SpaceTotals): string {
  return `${plural(segments, 'block')}; reserved where, the trace does not tell`;
}

function totalsTitle(totals: SpaceTotals): string {
  return [
    `${formatExactBytes(totals.reservedBytes)} reserved in ${plural(totals.segments, 'segment')}`,
    `${formatExactBytes(totals.allocatedBytes)} allocated; ${plural(totals.liveBlocks, 'live block')} in all`,
    `${formatExactBytes(totals.pendingBytes)} freed, awaiting a stream`,
    `${formatExactBytes(totals.freeBytes)} free`,
    `${roundingText(totals)} lost to rounding`,
  ].join('\n');
}
