/**
 * The timeline ordered by class: one layer each, as high as the class's live blocks, exact at every event. Within a
 * layer allocations keep their own order, so each pixel belongs to one of them.
 *
 *        ▁▂▅▇▅▂▁   temporaries
 *      ▂▅███████▂  activations        each column: the event with most active bytes in it
 *   ██████████████ parameters
 */

import { stepwise, type Task } from '../../base/task.ts';
import { classify } from '../../device/classes/classify.ts';
import { classLabels } from '../../device/classes/types.ts';
import type { StackRange } from '../../device/model/allocation-details.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { COLUMNS_PER_STEP } from './column-cache.ts';
import { columnRanges, counterLines, drawnStates } from './columns.ts';
import { LiveBytes, NO_LAYER } from './live-bytes.ts';
import { stackHits, type TimelineIndex } from './timeline-index.ts';
import type { Scene } from './timeline-painter.ts';
import {
  lastOnly,
  linesOfMatches,
  type Matching,
  type StackRenderer,
  type TimelineRenderer,
  type TimelineScene,
  withDimmedClass,
} from './timeline-renderer.ts';
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

/** Color index of what does not match a search. */
const DIMMED = -1;

/** Each class has two layers: the matches, and the rest above. This maps a MemoryClass to its lower layer. */
const LOWER_LAYER = new Uint8Array(classLabels().length);
classLabels().forEach((label, place) => {
  LOWER_LAYER[label.class] = 2 * place;
});

/** Palette row of each layer. */
const COLOR_OF: readonly number[] = classLabels().flatMap((label) => [label.class, DIMMED]);

/** The timeline ordered by class, for all allocations or for a search's matches. */
export class LayerRenderer implements StackRenderer {
  readonly #context: DeviceModel;
  readonly #index: TimelineIndex;
  readonly #byTime: TimelineRenderer;

  /** @param index of all allocations */
  constructor(context: DeviceModel, index: TimelineIndex, byTime: TimelineRenderer) {
    this.#context = context;
    this.#index = index;
    this.#byTime = byTime;
  }

  begin(
    { viewport, palette, lines }: TimelineScene,
    matching: Matching,
    out: Uint32Array | undefined,
  ): Task<TimelineFrame> {
    const { mask, onlyMatches } = matching;
    const index = this.#byTime.indexOf(matching);
    const dimmed = palette.classes.length;
    const scene = {
      viewport,
      lines: index === this.#index ? lines : linesOfMatches(lines),
      layers: this.#layers(mask, onlyMatches),
      colorOf: COLOR_OF.map((color) => (color === DIMMED ? dimmed : color)),
      palette: withDimmedClass(palette),
    };
    return drawLayers(index, scene, out);
  }

  hits({ mask, onlyMatches }: Matching, state: EventIndex, from: number, to: number): StackRange {
    return stackHits(this.#index, state, from, to, this.#layers(mask, onlyMatches));
  }

  readonly #layers = lastOnly((mask: Uint8Array | undefined, onlyMatches: boolean) => {
    const { replay, trace } = this.#context;
    const layerOf = classify(this.#context).classOf.map((of, id) => {
      const lower = LOWER_LAYER[of] ?? NO_LAYER;
      if (mask === undefined || mask[id] === 1) return lower;
      return onlyMatches ? NO_LAYER : lower + 1;
    });
    return new LiveBytes(replay.allocations, layerOf, COLOR_OF.length, trace.events.length);
  });
}
