/** The timeline ordered by class, for all allocations or for a search's matches. */

import type { Task } from '../base/task.ts';
import { classify } from '../device/classes/classify.ts';
import { classLabels } from '../device/classes/types.ts';
import type { StackRange } from '../device/model/allocation-details.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import { drawLayers, type LayerScene } from '../draw/timeline/class-layers.ts';
import { withDimmedClass } from '../draw/timeline/emphasis.ts';
import { LiveBytes, NO_LAYER } from '../draw/timeline/live-bytes.ts';
import { stackHits, type TimelineIndex } from '../draw/timeline/timeline-index.ts';
import type { TimelineFrame } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';

/** What matches a search; without one, everything does. */
export interface Matching {
  readonly mask: Uint8Array | undefined;
  /** Leaves out what does not match, rather than dimming it. */
  readonly onlyMatches: boolean;
}

/** Color index of what does not match a search. */
const DIMMED = -1;

export class LayerRenderer {
  readonly #context: DeviceModel;
  #last: (Matching & { readonly layers: LiveBytes }) | undefined;

  constructor(context: DeviceModel) {
    this.#context = context;
  }

  /** @param index of what is stacked */
  begin(
    index: TimelineIndex,
    matching: Matching,
    { viewport, palette, lines }: Pick<LayerScene, 'viewport' | 'palette' | 'lines'>,
    out: Uint32Array | undefined,
  ): Task<TimelineFrame> {
    const dimmed = palette.classes.length;
    const colorOf = COLOR_OF.map((color) => (color === DIMMED ? dimmed : color));
    const layers = this.#layers(matching);
    const scene = { viewport, lines, layers, colorOf, palette: withDimmedClass(palette) };
    return drawLayers(index, scene, out);
  }

  /** @param index of all allocations */
  hits(
    index: TimelineIndex,
    matching: Matching,
    state: EventIndex,
    bytesFrom: number,
    bytesTo: number,
  ): StackRange {
    return stackHits(index, state, bytesFrom, bytesTo, this.#layers(matching));
  }

  #layers({ mask, onlyMatches }: Matching): LiveBytes {
    const last = this.#last;
    if (last?.mask === mask && last?.onlyMatches === onlyMatches) return last.layers;
    const { replay, trace } = this.#context;
    const layerOf = classify(this.#context).classOf.map((of, id) => {
      const lower = LOWER_LAYER[of] ?? NO_LAYER;
      if (mask === undefined || mask[id] === 1) return lower;
      return onlyMatches ? NO_LAYER : lower + 1;
    });
    const { length } = trace.events;
    const layers = new LiveBytes(replay.allocations, layerOf, COLOR_OF.length, length);
    this.#last = { mask, onlyMatches, layers };
    return layers;
  }
}

/** Each class has two layers: the matches, and the rest above. This maps a MemoryClass to its lower layer. */
const LOWER_LAYER = new Uint8Array(classLabels().length);
classLabels().forEach((label, place) => {
  LOWER_LAYER[label.class] = 2 * place;
});

/** Palette row of each layer. */
const COLOR_OF: readonly number[] = classLabels().flatMap((label) => [label.class, DIMMED]);
