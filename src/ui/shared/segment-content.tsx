import { NEVER } from '../../allocator/replay/types.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../base/format.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import { absenceText } from '../../device/model/stacks.ts';
import type { SegmentFacts } from '../../draw/address-map/segment-lives.ts';
import type { SegmentClass, SegmentStackHit } from '../../draw/address-map/segment-timeline.ts';
import type { TooltipContent } from '../plot/tooltip.ts';
import { Blank } from './facts.tsx';
import { useDevice } from './services.ts';

export const SEGMENT_CLASS_LABELS: Readonly<Record<SegmentClass, string>> = {
  small: 'small pool',
  large: 'large pool',
  'expandable small': 'expandable, small pool',
  'expandable large': 'expandable, large pool',
  private: 'private pools',
};

/** 'segment of the large pool', 'expandable piece of the small pool', '… of private pool (1, 0)'. */
export function segmentKindText({ isExpandable, pool, privatePool }: SegmentFacts): string {
  const what = isExpandable ? 'expandable piece' : 'segment';
  return privatePool === undefined
    ? `${what} of the ${pool} pool`
    : `${what} of private pool ${privatePool}`;
}

/** 'from event 12 to event 3,400, 1.2 s', or 'since before the trace to the end'. */
export function lifeText({ startEvent, endEvent, startUs, endUs }: SegmentFacts): string {
  const from = startEvent < 0 ? 'since before the trace' : `from event ${formatCount(startEvent)}`;
  const to = endEvent === NEVER ? 'to the end' : `to event ${formatCount(endEvent)}`;
  const durationUs = endUs - startUs;
  return `${from} ${to}${Number.isNaN(durationUs) ? '' : `, ${formatDurationUs(durationUs)}`}`;
}

export function segmentContent({ main, count, totalBytes }: SegmentStackHit): TooltipContent {
  const place =
    main.topFrame === undefined ? absenceText(main.stack.kind) : frameLabel(main.topFrame);
  const lines = [place, segmentKindText(main), lifeText(main)];
  if (count === 1) return { title: formatBytes(main.sizeBytes), label: main.label, lines };
  return {
    title: `${formatCount(count)} segments, ${formatBytes(totalBytes)} here`,
    label: '',
    lines: [`largest: ${formatBytes(main.sizeBytes)} ${main.label}`, ...lines],
  };
}

export function NothingReserved() {
  const { device } = useDevice();
  const isEmptyAtEnd = device.end.reservedBytes === 0 && device.end.activeBytes === 0;
  const text =
    isEmptyAtEnd && device.peaks.reservedBytes.bytes === 0
      ? 'This device has no segments or blocks, neither in its trace nor in its final state.'
      : 'At this event the allocator holds no segments or blocks. Step forward, or jump to the peak.';
  return <Blank title="Nothing is reserved here" text={text} />;
}
