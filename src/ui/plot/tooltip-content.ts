/** What the tooltip says; plain text, put together apart from the DOM. */

import { formatBytes, formatCount, formatDurationUs, plural } from '../../core/base/format.ts';
import { absenceText } from '../../core/device/stacks.ts';
import type { HitResult, OomInfo } from '../../core/device/types.ts';
import { frameText } from '../shared/stack-text.ts';

export interface TooltipContent {
  readonly title: string;
  /** In the title's line, in monospace. */
  readonly label: string;
  /** Lines below; the first is the place in the code. */
  readonly lines: readonly string[];
}

/** 'alive for' up to the event under the pointer. */
function ageText({ ageEvents, ageUs }: HitResult): string {
  const events = plural(ageEvents, 'event');
  return Number.isNaN(ageUs) ? `${events} old` : `${events}, ${formatDurationUs(ageUs)} old`;
}

export function hitContent(hit: HitResult): TooltipContent {
  const place = hit.topFrame === undefined ? absenceText(hit.stackKind) : frameText(hit.topFrame);
  const lines = [place, hit.stackKind === 'before-recording' ? 'age not known' : ageText(hit)];
  if (hit.pending) lines.push('freed, but a stream may still use it');
  if (hit.count > 1) {
    const largest = formatBytes(hit.blockBytes);
    return {
      title: `${formatCount(hit.count)} blocks, ${formatBytes(hit.totalBytes)} here`,
      label: '',
      lines: [`largest: ${largest} ${hit.label}`, ...lines],
    };
  }
  return { title: formatBytes(hit.blockBytes), label: hit.label, lines };
}

export function oomContent(oom: OomInfo): TooltipContent {
  const free = Number.isNaN(oom.deviceFreeBytes)
    ? 'free on the device: not recorded'
    : `${formatBytes(oom.deviceFreeBytes)} free on the device`;
  return {
    title: 'Out of memory',
    label: '',
    lines: [
      `asked for ${formatBytes(oom.requestedBytes)}`,
      free,
      `event ${formatCount(oom.event)}`,
    ],
  };
}

export function snapshotContent(event: number): TooltipContent {
  return { title: 'Snapshot taken', label: '', lines: [`event ${formatCount(event)}`] };
}
