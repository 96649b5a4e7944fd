/**
 * The timeline ordered by class: one layer each, as high as the class's live blocks, exact at every event. Within a
 * layer allocations keep their own order, so each pixel belongs to one of them.
 *
 *        ▁▂▅▇▅▂▁   temporaries
 *      ▂▅███████▂  activations        each column: the event with most active bytes in it
 *   ██████████████ parameters
 */

import { stepwise, type Task } from '../../base/task.ts';
import { COLUMNS_PER_STEP } from './column-cache.ts';
import { columnRanges, counterLines, drawnStates } from './columns.ts';
import type { LiveBytes } from './live-bytes.ts';
import type { TimelineIndex } from './timeline-index.ts';
import type { Scene } from './timeline-painter.ts';
import type { TimelineFrame } from './types.ts';

export interface LayerScene extends Pick<Scene, 'viewport' | 'palette' | 'lines'> {
  readonly layers: LiveBytes;
  /** Palette row of each layer. */
  readonly colorOf: readonly number[];
}

/**
 * One frame, as a task. Pixels show the layer at their center.
 * @param index of the stacked allocations: all, or those that match a search
 */
export function* drawLayers(
  index: TimelineIndex,
  scene: LayerScene,
  out?: Uint32Array,
): Task<TimelineFrame> {
  const { viewport, palette, layers, colorOf, lines } = scene;
  const { width, height, y0, y1 } = viewport;
  const pixels = out?.length === width * height ? out : new Uint32Array(width * height);
  const ranges = columnRanges(index, viewport);
  const drawn = drawnStates(index, ranges);
  const bytes = new Float64Array(layers.count);
  yield* stepwise(width, COLUMNS_PER_STEP, (column) => {
    const state = drawn.states[column];
    let row = 0;
    const fillTo = (bytes: number, color: number): void => {
      const to = Math.min(height, Math.ceil(((bytes - y0) * height) / (y1 - y0) - 0.5));
      for (; row < to; row++) pixels[(height - 1 - row) * width + column] = color;
    };
    if (state >= 0) {
      layers.at(state, bytes);
      fillTo(0, palette.background);
      let top = 0;
      for (let layer = 0; layer < layers.count; layer++) {
        top += bytes[layer];
        fillTo(top, palette.classes[colorOf[layer]]);
      }
    }
    fillTo(Infinity, palette.background);
  });
  const { states } = drawn;
  const counters = counterLines(index, lines, ranges, drawn);
  return { viewport, pixels, states, lines: counters, stackPeakBytes: index.peakBytes };
}
