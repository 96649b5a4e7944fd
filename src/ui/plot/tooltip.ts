import { formatBytes, formatCount, formatDurationUs, plural } from '../../base/format.ts';
import { siteLabel } from '../../device/model/frame-text.ts';
import { absenceText } from '../../device/model/stacks.ts';
import type { HitResult, OomInfo } from '../../device/model/types.ts';

/** Distance from the pointer, so that it never covers what it speaks of. */
const OFFSET = 14;

/** A tooltip that is filled and moved without React, at the pace of the pointer. */
export class Tooltip {
  readonly #element: HTMLElement;
  #content: TooltipContent | undefined;
  /** Measured once per content: it costs a layout. */
  #size = { width: 0, height: 0 };

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** `x` and `y` are CSS pixels in the window. */
  show(content: TooltipContent, x: number, y: number): void {
    if (content !== this.#content) this.#fill(content);
    const { width, height } = this.#size;
    const fitsRight = x + OFFSET + width < window.innerWidth;
    // Above first: a stack grows from the bottom, so that there is less of it.
    const fitsAbove = y - OFFSET - height > 0;
    const left = fitsRight ? x + OFFSET : Math.max(0, x - OFFSET - width);
    const lowest = Math.max(0, window.innerHeight - height);
    const top = fitsAbove ? y - OFFSET - height : Math.min(y + OFFSET, lowest);
    this.#element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.#element.hidden = true;
    this.#content = undefined;
  }

  #fill(content: TooltipContent): void {
    const { title, label, lines } = content;
    const head = element('div', 'tooltip-head', '');
    head.append(element('strong', '', title), element('code', '', label));
    const rest = lines.map((line) => element('div', 'tooltip-line', line));
    this.#element.replaceChildren(head, ...rest);
    this.#element.hidden = false;
    this.#content = content;
    this.#size = { width: this.#element.offsetWidth, height: this.#element.offsetHeight };
  }
}

function element(tag: 'strong' | 'code' | 'div', className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** The text of a tooltip, made apart from the DOM. */
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
  const { topFrame, leafFrame } = hit;
  const place =
    topFrame === undefined ? absenceText(hit.stackKind) : siteLabel(topFrame, leafFrame);
  const lines = [place, hit.stackKind === 'before-recording' ? 'age unknown' : ageText(hit)];
  if (hit.what !== undefined) lines.unshift(hit.what);
  if (hit.pending) lines.push('freed, but another stream may still use it');
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
    ? 'free GPU memory: not recorded'
    : `${formatBytes(oom.deviceFreeBytes)} free on the GPU`;
  return {
    title: oom.wasRetried ? 'Retried: your program saw no error' : 'Out of memory',
    label: '',
    lines: [
      `requested ${formatBytes(oom.requestedBytes)}`,
      free,
      `event ${formatCount(oom.event)}`,
    ],
  };
}

export function snapshotContent(event: number): TooltipContent {
  return { title: 'Snapshot taken', label: '', lines: [`event ${formatCount(event)}`] };
}
