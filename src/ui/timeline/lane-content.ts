import { formatCount, formatDurationUs } from '../../core/base/format.ts';
import type { AnnotationSpan } from '../../core/device/types.ts';
import type { TooltipContent } from '../plot/tooltip-content.ts';
import type { LaneBox } from './lane-layout.ts';

/** What the tooltip says of a range. */
export function laneContent({ span, count }: LaneBox): TooltipContent {
  if (span === undefined) {
    return {
      title: `${formatCount(count)} ranges`,
      label: '',
      lines: ['too short to be told apart here: zoom in'],
    };
  }
  return { title: span.name, label: '', lines: spanLines(span) };
}

/** The same in one sentence, to be read out. */
export const spanText = (span: AnnotationSpan): string =>
  [span.name, ...spanLines(span)].join(', ');

function spanLines({ startUs, endUs, startEvent, endEvent, complete }: AnnotationSpan): string[] {
  const count = endEvent - startEvent;
  const lines = [
    formatDurationUs(endUs - startUs),
    count === 0
      ? 'no events inside'
      : `events ${formatCount(startEvent)} to ${formatCount(endEvent - 1)}`,
  ];
  if (!complete) lines.push('its START or END is not in the file');
  return lines;
}
