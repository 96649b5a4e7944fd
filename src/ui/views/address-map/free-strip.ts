/**
 * Below the map: free reserved memory, and its largest unbroken range. Both cover all addresses, whatever part the map
 * shows. These figures cost more than a picture, so they are requested when the window rests; until then the last ones
 * are drawn where they belong.
 */

import { scaleLinear } from 'd3';
import { isAbortError } from '../../../base/errors.ts';
import { formatBytes } from '../../../base/format.ts';
import { LatestOnly } from '../../../base/latest-only.ts';
import { startTimer } from '../../../base/task.ts';
import type { FreeColumns } from '../../../draw/address-map/free-memory.ts';
import type { Viewport } from '../../../draw/timeline/types.ts';
import { blankCanvas } from '../../plot/canvas.ts';
import type { PlotStrip, StripHost } from '../../plot/plot-controller.ts';
import { hideTooltip, showTooltip } from '../../plot/tooltip.ts';
import { plotStyle, type ThemeName } from '../../theme/palette.ts';
import { addressColors } from './address-source.ts';

type Columns = Pick<Viewport, 'axis' | 'x0' | 'x1' | 'width'>;

interface Shown {
  readonly columns: Columns;
  readonly found: FreeColumns;
  readonly highestBytes: number;
}

const REST_MS = 80;
/** CSS pixels above the highest value: space for its label. */
const HEADROOM = 16;

export class FreeStrip implements PlotStrip {
  readonly #canvas: HTMLCanvasElement;
  readonly #host: StripHost;
  readonly #stop = new AbortController();
  readonly #latest = new LatestOnly();
  #wanted: Columns | undefined;
  #stopTimer = () => {};
  #shown: Shown | undefined;
  #viewport: Viewport | undefined;

  constructor(canvas: HTMLCanvasElement, host: StripHost) {
    this.#canvas = canvas;
    this.#host = host;
    const { signal } = this.#stop;
    canvas.addEventListener('pointermove', (event) => this.#hover(event), { signal });
    canvas.addEventListener('pointerleave', hideTooltip, { signal });
  }

  paint(viewport: Viewport, theme: ThemeName): void {
    this.#viewport = viewport;
    this.#want(viewport);
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const context = blankCanvas(this.#canvas, width, height, viewport.width / width);
    const shown = this.#shown;
    if (context === undefined || shown === undefined || shown.columns.axis !== viewport.axis)
      return;
    const { columns, found, highestBytes } = shown;
    const toX = scaleLinear([viewport.x0, viewport.x1], [0, width]);
    const x = scaleLinear([0, columns.width], [toX(columns.x0), toX(columns.x1)]);
    const y = scaleLinear([0, Math.max(1, highestBytes)], [height, HEADROOM]);
    const columnWidth = x(1) - x(0);
    const { free, largest } = addressColors(theme);
    context.fillStyle = free;
    for (const [column, value] of found.freeBytes.entries()) {
      if (value > 0) context.fillRect(x(column), y(value), columnWidth, height - y(value));
    }
    // The largest range is a line of two pixels: it is low most of the time, yet what users look for.
    context.fillStyle = largest;
    let before = Number.NaN;
    for (const [column, value] of found.largestBytes.entries()) {
      const top = Math.min(height - 2, y(value) - 1);
      const others = Number.isNaN(before) ? top : before;
      before = top;
      if (Number.isNaN(top)) continue;
      context.fillRect(x(column), Math.min(top, others), columnWidth, Math.abs(top - others) + 2);
    }
    context.fillStyle = plotStyle(theme).dim;
    context.globalAlpha = 0.4;
    context.fillRect(0, HEADROOM - 0.5, width, 0.5);
    context.globalAlpha = 1;
    context.fillText(formatBytes(highestBytes), 4, HEADROOM / 2);
  }

  destroy(): void {
    this.#stop.abort();
    this.#latest.cancel();
    this.#stopTimer();
  }

  #want({ axis, x0, x1, width }: Viewport): void {
    const columns = { axis, x0, x1, width };
    if (JSON.stringify(columns) === JSON.stringify(this.#wanted)) return;
    this.#wanted = columns;
    // The map moves on: its frames must not wait for outdated figures.
    this.#latest.cancel();
    this.#stopTimer();
    const restMs = this.#shown === undefined ? 0 : REST_MS;
    this.#stopTimer = startTimer(restMs, () => void this.#ask(columns));
  }

  async #ask(columns: Columns): Promise<void> {
    const { session, device, repaint, onError } = this.#host;
    try {
      const found = await this.#latest.run((signal) =>
        session.query('freeColumns', { deviceIndex: device.index, columns }, { signal }),
      );
      const highestBytes = found.freeBytes.reduce((most, value) => Math.max(most, value || 0), 0);
      this.#shown = { columns, found, highestBytes };
      repaint();
    } catch (error) {
      if (!isAbortError(error)) onError(error);
    }
  }

  #hover(event: PointerEvent): void {
    const [shown, viewport] = [this.#shown, this.#viewport];
    if (shown === undefined || viewport === undefined) return;
    const share = event.offsetX / this.#canvas.clientWidth;
    const x = viewport.x0 + share * (viewport.x1 - viewport.x0);
    const { x0, x1, width } = shown.columns;
    const column = Math.floor(((x - x0) / (x1 - x0)) * width);
    const free = shown.found.freeBytes[column];
    const largest = shown.found.largestBytes[column];
    if (free === undefined || largest === undefined || Number.isNaN(free)) hideTooltip();
    else showTooltip(freeContent(free, largest), event.clientX, event.clientY, this.#canvas);
  }
}

function freeContent(freeBytes: number, largestBytes: number) {
  return {
    title: `${formatBytes(largestBytes)} in one piece`,
    lines: [
      `the largest of ${formatBytes(freeBytes)} reserved but free`,
      'at the event of this column with the most in use',
    ],
  };
}
