import type { SegmentRow } from '../../core/allocator-state/describe-state.ts';
import type { SegmentBars } from '../../core/allocator-state/segment-bars.ts';
import { formatExactBytes, plural } from '../../core/base/format.ts';
import { absenceText } from '../../core/device/stacks.ts';
import { fullPlace } from '../shared/stack-text.ts';
import type { BarColors } from './paint-bar.ts';
import { type BarPlace, SegmentBar } from './segment-bar.tsx';
import { BytesCell } from './segment-columns.tsx';
import { ageText, siteText, usedText } from './state-labels.ts';

/** Device pixels of a bar's height at a ratio of 1. */
export const BAR_HEIGHT_PX = 18;

interface SegmentCellsProps {
  readonly row: SegmentRow;
  readonly event: number;
  readonly bars: SegmentBars;
  /** Of the segment among the bars. */
  readonly index: number;
  readonly barHeightPx: number;
  readonly colors: BarColors;
  readonly selected: number;
  readonly onHover: (place: BarPlace | undefined) => void;
  readonly onPick: (place: BarPlace) => void;
}

/** One segment: its blocks to scale, and what is known of it. */
export function SegmentCells(props: SegmentCellsProps) {
  const { row, event, bars, index, barHeightPx, colors, selected, onHover, onPick } = props;
  const live = row.allocatedBytes + row.pendingBytes;
  return (
    <>
      <td className="cell-address mono" title={`0x${row.addressHex}`}>
        {row.addressHex}
      </td>
      <td className="cell-bar" title={undefined}>
        <SegmentBar
          bars={bars}
          index={index}
          heightPx={barHeightPx}
          colors={colors}
          selected={selected}
          onHover={onHover}
          onPick={onPick}
        />
        <span className="visually-hidden">{plural(row.liveBlocks, 'live block')}</span>
      </td>
      <BytesCell bytes={row.sizeBytes} />
      <td
        className="cell-number"
        title={`${formatExactBytes(live)} in ${plural(row.liveBlocks, 'block')}`}
      >
        {usedText(live, row.sizeBytes)}
      </td>
      <BytesCell bytes={row.largestFreeBytes} />
      <td className="cell-number" title={ageTitle(row, event)}>
        {ageText(row, event)}
      </td>
      <td
        className="cell-site"
        data-absent={row.frame === undefined}
        title={row.frame === undefined ? undefined : fullPlace(row.frame)}
      >
        {row.frame === undefined ? absenceText(row.stackKind) : siteText(row.frame)}
      </td>
    </>
  );
}

function ageTitle({ mappedEvent, grownEvent, pieces }: SegmentRow, event: number): string {
  const since =
    mappedEvent < 0
      ? 'There before the first event'
      : `From event ${mappedEvent}, ${plural(event - mappedEvent, 'event')} ago`;
  return pieces === 1
    ? since
    : `${since}; ${pieces} mapped pieces, the last at event ${grownEvent}`;
}
