import { formatBytes, formatCount, formatDurationUs } from '../../core/base/format.ts';
import type { Crosshair } from '../../core/device/types.ts';
import { COUNTERS } from '../shared/counters.ts';

/**
 * The counters at the crosshair, written straight into the legend: it changes with every move.
 * Looks for elements with data-readout="event" and data-readout=<counter> below `root`.
 */
export class Readout {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(crosshair: Crosshair | undefined): void {
    this.#set('event', crosshair === undefined ? '' : eventText(crosshair));
    for (const { name } of COUNTERS) {
      this.#set(name, crosshair === undefined ? '' : formatBytes(crosshair.counters[name]));
    }
  }

  #set(key: string, text: string): void {
    const element = this.#root.querySelector(`[data-readout="${key}"]`);
    if (element !== null && element.textContent !== text) element.textContent = text;
  }
}

/** 'event 6,302 · oom · 1.23 s' */
function eventText({ event, action, timeUs }: Crosshair): string {
  if (event < 0) return 'before the trace';
  const time = Number.isNaN(timeUs) ? '' : ` · ${formatDurationUs(timeUs)}`;
  return `event ${formatCount(event)} · ${action}${time}`;
}
