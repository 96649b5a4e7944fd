/** The page's one tooltip, filled and moved without React at the pace of the pointer; and its texts. */
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  lowerBound,
  plural,
} from '../../base/format.ts';
import type { HitResult } from '../../device/model/allocation-details.ts';
import type { OomInfo } from '../../device/model/device-info.ts';
import { siteLabel } from '../../device/model/frame-text.ts';
import { absenceText } from '../../device/model/stacks.ts';

export interface TooltipContent {
  readonly title: string;
  readonly label?: string;
  /** Lines below; the first is the place in the code. */
  readonly lines: readonly string[];
}

/** Distance from the pointer, so the tooltip never covers its subject. */
const OFFSET = 14;

/** Made when first shown; only one thing is under the pointer at a time. */
let element: HTMLElement | undefined;
let shown: TooltipContent | undefined;
/** Measured once per content, because it forces a layout. */
let size = { width: 0, height: 0, right: 0 };

/**
 * `x` and `y` are CSS pixels in the window. The tooltip ends where `picture` ends, so that it covers no panel beside it.
 */
export function showTooltip(
  content: TooltipContent,
  x: number,
  y: number,
  picture: Element = document.documentElement,
): void {
  element ??= makeElement();
  if (content !== shown) fill(element, content, picture);
  const { width, height, right } = size;
  const fitsRight = x + OFFSET + width < right;
  // Prefer above: a stack grows from the bottom, so less of it is there.
  const fitsAbove = y - OFFSET - height > 0;
  const left = fitsRight ? x + OFFSET : Math.max(0, x - OFFSET - width);
  const lowest = Math.max(0, window.innerHeight - height);
  const top = fitsAbove ? y - OFFSET - height : Math.min(y + OFFSET, lowest);
  element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

export function hideTooltip(): void {
  if (element !== undefined) element.hidden = true;
  shown = undefined;
}

function makeElement(): HTMLElement {
  const made = child('div', 'floating tooltip', '');
  made.role = 'tooltip';
  made.dataset.testid = 'tooltip';
  document.body.append(made);
  return made;
}

function fill(tooltip: HTMLElement, content: TooltipContent, picture: Element): void {
  const { title, label = '', lines } = content;
  const head = child('div', 'tooltip-head', '');
  head.append(child('strong', '', title), child('code', '', label));
  tooltip.replaceChildren(head, ...lines.map((line) => child('div', 'tooltip-line', line)));
  tooltip.hidden = false;
  shown = content;
  const { right } = picture.getBoundingClientRect();
  size = { width: tooltip.offsetWidth, height: tooltip.offsetHeight, right };
}

function child(tag: 'strong' | 'code' | 'div', className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** '12 events, 1.2 s old', '≥ 12 events old' at the event under the pointer. */
function ageText({ ageEvents, ageUs, isFromBefore }: HitResult): string {
  const events = plural(ageEvents, 'event');
  const text = Number.isNaN(ageUs) ? events : `${events}, ${formatDurationUs(ageUs)}`;
  return `${lowerBound(text, isFromBefore)} old`;
}

export function hitContent(hit: HitResult): TooltipContent {
  const { topFrame, leafFrame } = hit;
  const place =
    topFrame === undefined ? absenceText(hit.stackKind) : siteLabel(topFrame, leafFrame);
  const lines = [place, ageText(hit)];
  if (hit.what !== undefined) lines.unshift(hit.what);
  if (hit.usableFrom !== undefined) {
    const from = formatCount(hit.usableFrom);
    lines.push(`being freed: its memory can be used again from event ${from} on`);
  } else if (hit.pending) lines.push('freed, but another stream may still use it');
  if (hit.count > 1) {
    const size = formatBytes(hit.blockBytes);
    const title = `${formatCount(hit.count)} blocks, ${formatBytes(hit.totalBytes)} here`;
    return { title, lines: [`most of this pixel: ${size} ${hit.label}`, ...lines] };
  }
  return { title: formatBytes(hit.blockBytes), label: hit.label, lines };
}

export function oomContent(oom: OomInfo): TooltipContent {
  const free = Number.isNaN(oom.deviceFreeBytes)
    ? 'free memory: not recorded'
    : `${formatBytes(oom.deviceFreeBytes)} free on the device`;
  const requested = `requested ${formatBytes(oom.requestedBytes)}`;
  const title = oom.wasRetried ? 'Retried: your program saw no error' : 'Out of memory';
  return { title, lines: [requested, free, `event ${formatCount(oom.event)}`] };
}

export function snapshotContent(event: number): TooltipContent {
  const lines = [
    'Your program called _snapshot() or _dump_snapshot() here.',
    `event ${formatCount(event)}`,
  ];
  return { title: 'Snapshot taken', lines };
}
